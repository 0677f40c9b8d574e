"""Writes spelled_numbers.tsv: numbers in English and German words, by num2words, which shares nothing with ICU.

    python tests/data/tasks/golden/spelled_numbers.py > tests/data/tasks/golden/spelled_numbers.tsv    # pip install num2words

English is without "and" and commas, as ICU writes it.
"""

from num2words import num2words

NUMBERS = [*range(0, 22), 30, 42, 57, 68, 99, 100, 101, 110, 111, 212, 999, 1000, 1001, 1016, 1100, 1234, 2002, 9999, 10000, 10101, 12345,
           20021, 99999, 100000, 100001, 123456, 900090, 999999]

for number in NUMBERS:
    english = num2words(number, lang="en").replace(" and ", " ").replace(",", "")
    print(number, english, num2words(number, lang="de"), sep="\t")
