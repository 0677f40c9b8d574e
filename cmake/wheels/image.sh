#!/usr/bin/env bash
# image.sh ARCHIVE FOLDER: writes FOLDER/<name of the archive>.oci.tar, an image of Debian 12 with the program of an archive that tarball.sh
# wrote, for `podman load` and `docker load`. Its entry point is `ablate`, its working folder /work. Then unpacks the image again and runs
# the program in it. As root, with debootstrap, umoci and skopeo.
set -euo pipefail
archive=$(realpath "$1") folder=$(realpath "$2")
for tool in debootstrap umoci skopeo; do
  command -v "$tool" >/dev/null || { echo "image: $tool is missing: apt-get install debootstrap umoci skopeo" >&2; exit 2; }
done
[ "$(id -u)" = 0 ] || { echo "image: the files of a system need root" >&2; exit 2; }
name=$(basename "$archive" .tar.gz)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
layout=$work/layout tag=$work/layout:latest

umoci init --layout "$layout"
umoci new --image "$tag"
umoci unpack --image "$tag" "$work/bundle"
root=$work/bundle/rootfs
debootstrap --variant=minbase --include=ca-certificates,libgomp1,libstdc++6 bookworm "$root" >"$work/log" || { tail "$work/log" >&2; exit 1; }
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/* "$root"/var/log/*
# The mirror that it was made from is this machine's: who installs more names one.
: >"$root/etc/apt/sources.list"
rm -f "$root"/etc/resolv.conf "$root"/etc/hostname
mkdir -p "$root/opt" "$root/work"
tar -xzf "$archive" -C "$root/opt"
ln -s "../../../opt/$name/bin/ablate" "$root/usr/local/bin/ablate"
umoci repack --image "$tag" "$work/bundle"
umoci config --image "$tag" --config.entrypoint ablate --config.workingdir /work --config.env LC_ALL=C.UTF-8 \
  --config.env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --config.label org.opencontainers.image.licenses=MIT --config.label "org.opencontainers.image.title=$name"
rm -rf "$work/bundle"
skopeo --insecure-policy copy --quiet "oci:$tag" "oci-archive:$folder/$name.oci.tar:ablate:latest"

skopeo --insecure-policy copy --quiet "oci-archive:$folder/$name.oci.tar" "oci:$work/read:latest"
umoci unpack --image "$work/read:latest" "$work/read-bundle"
cd "$work/read-bundle"
python3 - <<'CHECK'
import json
process = json.load(open("config.json"))["process"]
assert process["args"] == ["ablate"] and process["cwd"] == "/work", process
CHECK
unshare --mount --propagation private bash -c 'mount -t proc proc rootfs/proc && mount --bind /dev rootfs/dev &&
  exec chroot rootfs env -i PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 sh -ec "cd /work
    ablate init first.yaml
    ablate run first.yaml --set training.steps=20 --seeds 1,2 >run.log 2>&1 || [ \$? = 1 ] || { cat run.log; exit 1; }
    ls runs/*/results.json"'
echo "$folder/$name.oci.tar"
