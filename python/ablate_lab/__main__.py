from ablate_lab._program import main

main()
