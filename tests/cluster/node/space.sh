# Process 1 of the node's own world: what a kubelet and its containers would change on this machine, they change in here.
#
# Runs in new namespaces for processes, mounts and the network. When it ends, however it ends, the kernel ends everything in
# here and takes mounts, bridges, addresses and packet filters away. Called with the plane's folder and the name of the cgroup.
set -eu
folder=$1 group=$2

mkdir -p "$folder/log" "$folder/cni/state" "$folder/kernel" /var/lib/cni
mount --make-rshared /
mount -t tmpfs tmpfs /run
mkdir -p /run/lock
mount --bind "$folder/log" /var/log
mount --bind "$folder/cni/state" /var/lib/cni

# A kubelet sets these for the whole machine; here it finds them set already.
tell() { echo "$2" >"$folder/kernel/${1//\//_}"; mount --bind "$folder/kernel/${1//\//_}" "/proc/sys/$1"; }
tell vm/overcommit_memory 1
tell vm/panic_on_oom 0
tell kernel/panic 10
tell kernel/panic_on_oops 1
tell kernel/keys/root_maxkeys 1000000
tell kernel/keys/root_maxbytes 25000000

# A cgroup for all pods, so that nothing of them lies beside other people's.
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  for controller in $(cat /sys/fs/cgroup/cgroup.controllers); do echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control || true; done
  mkdir -p "/sys/fs/cgroup/$group"
else
  for hierarchy in /sys/fs/cgroup/*/; do
    mkdir -p "$hierarchy$group" || true
  done
fi

ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables || true

touch "$folder/mounted"
# Shims leave their containers to process 1; a shell that waits takes them in.
while :; do sleep 3600 & wait $!; done
