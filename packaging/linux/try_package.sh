#!/usr/bin/env bash
# Tries a built .deb where nothing of this machine is: a bare Debian or Ubuntu that has the package's
# own dependencies and no Python. With the network cut, the program must test itself, answer a
# question and show its window; removing it must leave nothing but what its user made.
#
#   sudo MIRROR=ADDRESS packaging/linux/try_package.sh FILE.deb FOLDER [bookworm|noble]
#
# Needs debootstrap, Xvfb and ImageMagick. FOLDER gets the root (once) and the pictures.
set -euo pipefail
package=$(realpath "$1") folder=$(realpath -m "$2") suite=${3:-bookworm}
root=$folder/$suite
mirror=${MIRROR:?the address of a mirror of the distribution}
script=$suite
[ -e "/usr/share/debootstrap/scripts/$script" ] || script=gutsy # how every Ubuntu is made

mkdir -p "$folder"
[ -e "$root/bin/sh" ] || debootstrap --variant=minbase --no-check-gpg "$suite" "$root" "$mirror" \
  "/usr/share/debootstrap/scripts/$script" >"$folder/$suite-debootstrap.log"
for place in proc dev tmp/.X11-unix; do
  mkdir -p "/$place" "$root/$place"
  mountpoint -q "$root/$place" || mount --bind "/$place" "$root/$place"
done
trap 'umount "$root/proc" "$root/dev" "$root/tmp/.X11-unix"' EXIT
cp /etc/resolv.conf "$root/etc/resolv.conf"
in_root() { chroot "$root" "$@"; }
as_user() { # without any network interface
  unshare --net chroot --userspec=ada "$root" env -i HOME=/home/ada USER=ada PATH=/usr/bin:/bin \
    LANG=C.UTF-8 DISPLAY="${display:-}" "$@"
}

echo "== install on $suite"
in_root apt-get update --quiet --quiet
in_root id ada >/dev/null 2>&1 || in_root useradd --create-home ada
in_root dpkg --get-selections | sort >"$folder/$suite-before.txt"
cp "$package" "$root/srv/package.deb"
DEBIAN_FRONTEND=noninteractive in_root apt-get install --yes --quiet --quiet \
  --no-install-recommends /srv/package.deb >"$folder/$suite-install.log" 2>&1
! in_root sh -c 'command -v python3' || { echo "there is a Python here"; exit 1; }

echo "== without a network: self-test"
as_user dflash-desktop self-test | tail -1
echo "== without a network: the starter model that is inside"
as_user dflash-desktop starter install 2>/dev/null | tail -4
as_user dflash-desktop chat --prompt "What is the capital of France?"
as_user dflash-desktop self-test | tail -1

echo "== the window, started as the desktop entry says"
display_file=$(mktemp)
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp 3>"$display_file" 2>/dev/null &
server=$!
until [ -s "$display_file" ]; do sleep 0.1; done
display=:$(cat "$display_file")
entry=$(sed -n 's/^Exec=\([^ ]*\).*/\1/p' "$root/usr/share/applications/dflash-desktop.desktop")
as_user "$entry" &
window=$!
sleep "${WINDOW_SECONDS:-12}"
DISPLAY=$display import -window root "$folder/$suite-window.png"
program=$(pgrep -P $window) # the function's shell waits for it
kill -TERM "$program"
wait $window
kill $server

echo "== remove"
DEBIAN_FRONTEND=noninteractive in_root apt-get purge --yes --quiet dflash-desktop 2>&1 |
  sed -n '/is removed/,$p'
echo "left on the system:"
in_root find / -xdev -path /proc -prune -o -path /tmp -prune -o \
  \( -name '*dflash*' -o -name '*DFlash*' \) -print | grep -v "^/srv/" || true
