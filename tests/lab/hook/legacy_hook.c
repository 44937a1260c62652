/*
 * What NVIDIA's legacy hook (nvidia-container-runtime-hook, libnvidia-container) does to a container before its
 * first process starts, as far as its devices go: device nodes in its /dev, and leave for them in its device
 * cgroup, both behind systemd's back. On cgroup v2 each BPF device program of the container is replaced by the same
 * program with a rule for major 195 put before it (libnvidia-container, src/nvcgo/internal/cgroup/ebpf.go); on v1
 * "c 195:* rw" goes to devices.allow. systemd never hears of the rule, so its next rewrite of the filter drops it.
 * A container that asks for the MIG monitor's right is held to CAP_SYS_ADMIN, and gets the nodes of MIG's rights.
 *
 * The OCI runtime calls it with the argument "prestart" and the container's state (JSON: pid, bundle) on stdin.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MAJOR_NVIDIA = 195, MAJOR_CAPS = 237, MINOR_CONTROL = 255, MINOR_GPU0 = 0 };
enum { MAX_TEXT = 1 << 20, MAX_PROGRAMS = 64, MAX_INSTRUCTIONS = 8192, PRELUDE = 7 };

static void die(const char *format, ...)
{
	int reason = errno;
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "nvidia-container-runtime-hook (stand-in): ");
	vfprintf(stderr, format, arguments);
	fprintf(stderr, ": %s\n", reason ? strerror(reason) : "not as expected");
	va_end(arguments);
	exit(1);
}

static char *read_all(int fd, const char *what)
{
	char *text = calloc(1, MAX_TEXT);
	size_t length = 0;
	ssize_t got;
	while (text && length < MAX_TEXT - 1 && (got = read(fd, text + length, MAX_TEXT - 1 - length)) > 0)
		length += got;
	if (!text || length == 0)
		die("%s", what);
	return text;
}

static char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("%s", path);
	char *text = read_all(fd, path);
	close(fd);
	return text;
}

/* The string or number after "key": in JSON as Docker and runc write it; good enough for the keys asked for. */
static char *json_value(const char *json, const char *key)
{
	char quoted[64];
	snprintf(quoted, sizeof quoted, "\"%s\"", key);
	const char *found = json ? strstr(json, quoted) : NULL;
	if (!found)
		return NULL;
	found += strlen(quoted) + strspn(found + strlen(quoted), " \t\n:");
	if (*found == '"')
		return strndup(found + 1, strcspn(found + 1, "\""));
	return strndup(found, strcspn(found, ",} \t\n"));
}

/* Whether a variable of the container says something: the last one of its name in the environment counts. */
static int says(const char *config, const char *variable)
{
	char name[64];
	int width = snprintf(name, sizeof name, "\"%s=", variable);
	const char *value = NULL;
	for (const char *at = strstr(config, name); at; at = strstr(at + 1, name))
		value = at + width;
	if (!value)
		return 0;
	size_t length = strcspn(value, "\"");
	return length && strncmp(value, "void\"", 5) && strncmp(value, "none\"", 5);
}

/* Whether CAP_SYS_ADMIN is in the container's bounding set: what the hook calls privileged. */
static int privileged(const char *config)
{
	const char *bounding = strstr(config, "\"bounding\":");
	const char *found = bounding ? strstr(bounding, "\"CAP_SYS_ADMIN\"") : NULL;
	return found && found < strchr(bounding, ']');
}

static void make_node(const char *root, const char *name, int mode, int major, int minor)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/dev/%s", root, name);
	umask(0);
	if (mknod(path, S_IFCHR | mode, makedev(major, minor)) && errno != EEXIST)
		die("%s", path);
}

/* A MIG monitor sees the whole of /dev/nvidia-caps (libnvidia-container, src/nvc_mount.c). */
static void make_capabilities(const char *root)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/dev/nvidia-caps", root);
	if (mkdir(path, 0755) && errno != EEXIST)
		die("%s", path);
	make_node(root, "nvidia-caps/nvidia-cap1", 0400, MAJOR_CAPS, 1);
	make_node(root, "nvidia-caps/nvidia-cap2", 0444, MAJOR_CAPS, 2);
}

/* The runtime has not pivoted yet: the container's root is still seen under its path on the node. */
static void make_nodes(const char *pid, const char *root, int monitor)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%s/ns/mnt", pid);
	int namespace = open(path, O_RDONLY | O_CLOEXEC);
	if (namespace < 0 || setns(namespace, CLONE_NEWNS))
		die("%s", path);
	make_node(root, "nvidiactl", 0666, MAJOR_NVIDIA, MINOR_CONTROL);
	make_node(root, "nvidia0", 0666, MAJOR_NVIDIA, MINOR_GPU0);
	if (monitor)
		make_capabilities(root);
}

/* The container's group in the hierarchy whose line in /proc/PID/cgroup holds `mark`; NULL where there is none. */
static char *group_of(const char *pid, const char *mark, const char *mount)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%s/cgroup", pid);
	char *group = NULL;
	char *text = read_file(path);
	for (char *line = strtok(text, "\n"); line && !group; line = strtok(NULL, "\n")) {
		char *controllers = strchr(line, ':');
		char *place = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!place)
			continue;
		*place++ = '\0';
		if (strcmp(controllers, mark) == 0 && asprintf(&group, "%s%s", mount, place) < 0)
			die("memory");
	}
	free(text);
	return group;
}

static void allow_v1(const char *group)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/devices.allow", group);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	static const char rule[] = "c 195:* rw";
	if (fd < 0 || write(fd, rule, sizeof rule - 1) < 0)
		die("%s", path);
	close(fd);
}

static long bpf(int command, union bpf_attr *attributes)
{
	return syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

/* if (major == 195 && type == character device) return 1; r1 is the context and stays as it is (bpf_cgroup_dev_ctx). */
static const struct bpf_insn prelude[PRELUDE] = {
	{.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 1, .off = 0},
	{.code = BPF_ALU | BPF_AND | BPF_K, .dst_reg = 2, .imm = 0xffff},
	{.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 3, .src_reg = 1, .off = 4},
	{.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 2, .off = 3, .imm = BPF_DEVCG_DEV_CHAR},
	{.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 3, .off = 2, .imm = MAJOR_NVIDIA},
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1},
	{.code = BPF_JMP | BPF_EXIT},
};

/* A program that allows what the old one does, and major 195. */
static int with_nvidia(int old)
{
	static struct bpf_insn instructions[PRELUDE + MAX_INSTRUCTIONS];
	static char log[1 << 16];
	struct bpf_prog_info info = {
		.xlated_prog_len = MAX_INSTRUCTIONS * sizeof(struct bpf_insn),
		.xlated_prog_insns = (uintptr_t)(instructions + PRELUDE),
	};
	union bpf_attr ask = {.info = {.bpf_fd = old, .info_len = sizeof info, .info = (uintptr_t)&info}};
	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &ask) || !info.xlated_prog_insns)
		die("instructions of BPF program %u", info.id);
	memcpy(instructions, prelude, sizeof prelude);
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
		.insns = (uintptr_t)instructions,
		.insn_cnt = PRELUDE + info.xlated_prog_len / sizeof(struct bpf_insn),
		.license = (uintptr_t)"GPL",
		.log_level = 1,
		.log_buf = (uintptr_t)log,
		.log_size = sizeof log,
	};
	long fd = bpf(BPF_PROG_LOAD, &load);
	if (fd < 0)
		die("BPF_PROG_LOAD after program %u: %s", info.id, log);
	return (int)fd;
}

static void replace_program(int group, uint32_t id, uint32_t flags)
{
	union bpf_attr open_it = {.prog_id = id};
	long old = bpf(BPF_PROG_GET_FD_BY_ID, &open_it);
	if (old < 0)
		die("BPF_PROG_GET_FD_BY_ID %u", id);
	union bpf_attr attach = {
		.target_fd = group,
		.attach_bpf_fd = with_nvidia((int)old),
		.attach_type = BPF_CGROUP_DEVICE,
		.attach_flags = flags & (BPF_F_ALLOW_OVERRIDE | BPF_F_ALLOW_MULTI),
	};
	if (bpf(BPF_PROG_ATTACH, &attach))
		die("BPF_PROG_ATTACH");
	/* Without ALLOW_MULTI the new program has taken the old one's place by being attached. */
	if (!(flags & BPF_F_ALLOW_MULTI))
		return;
	union bpf_attr detach = {.target_fd = group, .attach_bpf_fd = (int)old, .attach_type = BPF_CGROUP_DEVICE};
	if (bpf(BPF_PROG_DETACH, &detach))
		die("BPF_PROG_DETACH %u", id);
}

static void allow_v2(const char *path)
{
	uint32_t ids[MAX_PROGRAMS];
	int group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (group < 0)
		die("%s", path);
	union bpf_attr query = {.query = {
		.target_fd = group,
		.attach_type = BPF_CGROUP_DEVICE,
		.prog_ids = (uintptr_t)ids,
		.prog_cnt = MAX_PROGRAMS,
	}};
	if (bpf(BPF_PROG_QUERY, &query))
		die("BPF_PROG_QUERY %s", path);
	for (uint32_t each = 0; each < query.query.prog_cnt; each++)
		replace_program(group, ids[each], query.query.attach_flags);
	close(group);
}

/* By the file system: /proc/PID/cgroup lists v1 hierarchies that the kernel has but the node does not mount. */
static void allow(const char *pid)
{
	struct statfs mounted;
	if (statfs("/sys/fs/cgroup", &mounted))
		die("/sys/fs/cgroup");
	int unified = mounted.f_type == CGROUP2_SUPER_MAGIC;
	char *group = unified ? group_of(pid, ":", "/sys/fs/cgroup") : group_of(pid, ":devices", "/sys/fs/cgroup/devices");
	if (!group)
		die("/proc/%s/cgroup: no device cgroup", pid);
	if (unified)
		allow_v2(group);
	else
		allow_v1(group);
}

int main(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "prestart"))
		return 0;
	char *state = read_all(STDIN_FILENO, "container state on stdin");
	char *pid = json_value(state, "pid");
	char *bundle = json_value(state, "bundle");
	if (!pid || !bundle)
		die("container state: no pid or bundle in %.200s", state);
	char path[4096];
	snprintf(path, sizeof path, "%s/config.json", bundle);
	char *config = read_file(path);
	if (!says(config, "NVIDIA_VISIBLE_DEVICES"))
		return 0;
	int monitor = says(config, "NVIDIA_MIG_MONITOR_DEVICES");
	/* nvidia-container-toolkit, cmd/nvidia-container-runtime-hook/container_config.go */
	if (monitor && !privileged(config))
		die("cannot set MIG_MONITOR_DEVICES in non privileged container");
	char *root = json_value(strstr(config, "\"root\":"), "path");
	if (!root)
		die("%s: no root path", path);
	allow(pid);
	make_nodes(pid, root, monitor);
	return 0;
}
