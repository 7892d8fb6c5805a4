"""Dockerfiles without a daemon: what they say, and a folder that has in it what an image would have, for chroot.

A base image is taken from this machine: where it is the same release, the files of the packages that are named, of those that these need, and of those that
every system has, are the ones that an image gets. Only root can go there.
"""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess

ALWAYS = ["base-files", "base-passwd", "apt"]  # beside what is essential or required


def instructions(text):
    """(word, rest) of each, continued lines put together; of ENTRYPOINT and CMD the rest is a list."""
    found = []
    for line in re.sub(r"\\\n", " ", text).splitlines():
        line = line.strip()
        if line and not line.startswith("#"):
            word, rest = line.split(None, 1)
            found.append((word, json.loads(rest) if rest.startswith("[") else rest))
    return found


def stages(text):
    """Instructions of each stage, by its name, or its number."""
    found = {}
    for word, rest in instructions(text):
        if word == "FROM":
            name = rest.split(" AS ")[1] if " AS " in rest else str(len(found))
            found[name] = []
        found[name].append((word, rest))
    return found


def wanted_packages(stage):
    """Of its apt-get install commands, which take the options that images want and leave nothing behind."""
    names = []
    for word, rest in stage:
        if word == "RUN" and "apt-get install" in rest:
            assert "apt-get update &&" in rest and "rm -rf /var/lib/apt/lists/*" in rest
            words = shlex.split(re.search(r"apt-get install (.*?)&&", rest)[1])
            assert words[:2] == ["-y", "--no-install-recommends"]
            names += words[2:]
    return names


def unknown(packages):
    """Those that apt could not install."""
    said = subprocess.run(["apt-cache", "policy", *packages], capture_output=True, text=True).stdout
    known = {name for name, candidate in re.findall(r"^(\S+):\n  Installed: .*\n  Candidate: (.*)$", said, re.M) if candidate != "(none)"}
    return [name for name in packages if name not in known]


def _installed():
    """What dpkg knows to be installed: name or what it provides -> (name, what it needs)."""
    form = "${Package}\t${Essential}\t${Priority}\t${Pre-Depends}, ${Depends}\t${Provides}\t${db:Status-Status}\n"
    packages, providers = {}, {}
    for line in subprocess.run(["dpkg-query", "-W", "-f", form], capture_output=True, text=True, check=True).stdout.splitlines():
        name, essential, priority, needs, provides, status = line.split("\t")
        if status != "installed":
            continue
        packages[name] = (essential == "yes" or priority == "required" or name in ALWAYS, needs)
        for each in filter(None, (re.split(r"[ (:]", word.strip())[0] for word in provides.split(","))):
            providers.setdefault(each, name)
    return packages, providers


def closure(names):
    """The packages that apt would have installed, as far as this machine has them; and those it has not."""
    packages, providers = _installed()
    todo, done, missing = [name for name, (always, _) in packages.items() if always] + list(names), set(), set()
    while todo:
        name = todo.pop()
        name = name if name in packages else providers.get(name, name)
        if name in done:
            continue
        if name not in packages:
            missing.add(name)
            continue
        done.add(name)
        for group in filter(None, map(str.strip, packages[name][1].split(","))):
            choices = [re.split(r"[ (:]", word.strip())[0] for word in group.split("|")]
            there = [word for word in choices if word in packages or word in providers]
            todo.append(there[0] if there else choices[0])
    return done, missing


class Root:
    """A folder with the files of packages in it; they are links where that is possible, and are not to be written to."""

    def __init__(self, folder, names):
        self.folder = str(folder)
        done, missing = closure(names)
        assert not missing, "not on this machine: " + ", ".join(sorted(missing))
        os.makedirs(self.folder, exist_ok=True)
        for name in "bin", "sbin", "lib", "lib64":
            os.makedirs(self.path("usr", name), exist_ok=True)
            os.symlink("usr/" + name, self.path(name))
        for name in "proc", "dev", "tmp", "etc", "root", "var/tmp", "run":
            os.makedirs(self.path(name), exist_ok=True)
        os.chmod(self.path("tmp"), 0o1777)
        listed = subprocess.run(["dpkg", "-L", *sorted(done)], capture_output=True, text=True, check=True).stdout.splitlines()
        for path in sorted(set(listed)):
            self._add(path)
        for path in ["/etc/passwd", "/etc/group", "/etc/shadow", *glob.glob("/etc/alternatives/*")]:
            self._add(path)
        self.run(["ldconfig"])

    def path(self, *names):
        return os.path.join(self.folder, *(name.lstrip("/") for name in names))

    def _add(self, path):
        to = self.path(path)
        if path.startswith("/usr/share/doc/") or path.startswith("/usr/share/man/") or os.path.lexists(to) or not path.startswith("/") or not os.path.lexists(path):
            return
        if os.path.isdir(path) and not os.path.islink(path):
            os.makedirs(to, exist_ok=True)
            return
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.islink(path):
            os.symlink(os.readlink(path), to)
            return
        try:
            if path.startswith(("/etc/", "/var/")):
                raise OSError
            os.link(path, to)
        except OSError:  # another file system, or one that is written to
            if os.path.isfile(path):
                shutil.copy2(path, to)

    def run(self, words, folder="/", user=None, check=True, timeout=600, **env):
        """Runs a command in it, as RUN and CMD do."""
        inside = "cd %s && exec %s" % (shlex.quote(folder), shlex.join(words))
        if user:
            inside = "setpriv --reuid=%s --regid=%s --init-groups sh -c %s" % (user, user, shlex.quote(inside))
        script = "mount --bind /dev %s && mount -t proc proc %s && exec chroot %s sh -c %s" % (
            shlex.quote(self.path("dev")), shlex.quote(self.path("proc")), shlex.quote(self.folder), shlex.quote(inside))
        bare = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", **env}
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-c", script], capture_output=True, text=True, timeout=timeout, env=bare)
        assert not check or done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
        return done
