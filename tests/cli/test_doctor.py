"""What doctor finds, and what it says when something is missing."""
import json
import os


def checks_of(venturi, **kw):
    done = venturi("doctor", "--json", **kw)
    found = json.loads(done.stdout)
    return done, found, {check["name"]: check for check in found["checks"]}


def test_all_is_well_here(venturi, tmp_path):
    done, found, checks = checks_of(venturi, cwd=tmp_path)
    assert done.returncode == 0 and found["works"] is True
    assert "ns a read" in checks["clock"]["found"]
    assert checks["shared memory"] == {"name": "shared memory", "state": "ok", "found": "memfd", "hint": None}
    assert checks["drainer"]["found"].endswith("/venturi-drain")
    assert str(tmp_path) in checks["this folder"]["found"]
    assert venturi("--version").stdout == "venturi %s\n" % found["version"]


def test_text_says_the_same(venturi, tmp_path):
    done, found, checks = checks_of(venturi, cwd=tmp_path)
    text = venturi("doctor", cwd=tmp_path, check=0).stdout
    for name in checks:
        assert "\n" + name in text
    for setting in found["settings"]:
        assert setting["name"] in text
    assert text.endswith("Recording works here.\n")


def test_text_fits_the_terminal(venturi, tmp_path):
    text = venturi("doctor", cwd=tmp_path, env={"COLUMNS": "80"}).stdout
    assert max(map(len, text.splitlines())) <= 80


def test_missing_drainer(venturi, tmp_path):
    done, found, checks = checks_of(venturi, env={"VENTURI_DRAIN": tmp_path / "none"})
    assert done.returncode == 1 and found["works"] is False
    assert checks["drainer"]["state"] == "bad"
    assert checks["drainer"]["found"] == "%s/none: No such file or directory" % tmp_path
    assert venturi("doctor", env={"VENTURI_DRAIN": "/none"}, check=1).stdout.endswith(
        "Recording does not work here.\n")


def test_folder_that_is_gone(venturi, tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    done = venturi("doctor", "--json", cwd=folder, preexec_fn=lambda: os.rmdir(folder))
    assert done.returncode == 1
    assert [c for c in json.loads(done.stdout)["checks"] if c["name"] == "this folder"][0]["state"] == "bad"


def test_settings_and_where_they_come_from(venturi):
    env = {"VENTURI_BUFFER": "8M", "VENTURI_POLICY": "block:50", "VENTURI_OUTPUT": "x\033.vt"}
    settings = {s["name"]: s for s in checks_of(venturi, env=env)[1]["settings"]}
    assert settings["VENTURI_BUFFER"] == {"name": "VENTURI_BUFFER", "value": "8M", "from": "environment",
                                          "trouble": None}
    assert settings["VENTURI_POLICY"]["value"] == "block:50"
    assert settings["VENTURI_SESSION"]["from"] == "default"
    assert "\033" not in venturi("doctor", env=env).stdout
    assert "x\\x1b.vt" in venturi("doctor", env=env).stdout


def test_settings_that_are_not_understood(venturi):
    for name, value, trouble in [("VENTURI_BUFFER", "64Q", "not a size"),
                                 ("VENTURI_POLICY", "panic", "neither drop nor block:MS"),
                                 ("VENTURI_POLICY", "block:soon", "not a number of milliseconds"),
                                 ("VENTURI_RING", "-1", "not a number")]:
        done = venturi("doctor", env={name: value}, check=0)
        assert done.stderr == "venturi doctor: warning: %s in the environment is %s; the default counts\n" % (
            name, trouble)


def test_operands_are_refused(venturi):
    assert venturi("doctor", "x", check=2).stderr == "venturi doctor: it takes no operands, what is 'x'?\n"


def zone(root, name, uj):
    folder = root / "class/powercap" / name
    folder.mkdir(parents=True)
    (folder / "name").write_text("package-0\n")
    (folder / "energy_uj").write_text("%d\n" % uj)
    (folder / "max_energy_range_uj").write_text("262143328850\n")
    return folder / "energy_uj"


def test_energy_that_is_measured(venturi, tmp_path):
    zone(tmp_path / "sys", "intel-rapl:0", 1)
    check = checks_of(venturi, env={"VENTURI_SYSFS": tmp_path / "sys"})[2]["energy"]
    assert check["state"] == "ok" and check["found"].startswith("package-0 measured (powercap)")


def test_energy_that_may_not_be_read(venturi, tmp_path):
    """Not permitted, and not simply guessed: the exact command is there."""
    zone(tmp_path / "sys", "intel-rapl:0", 1).chmod(0)
    os.chmod(tmp_path, 0o755)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        if os.stat(folder).st_uid == os.getuid():
            os.chmod(folder, 0o755)
    drop = (lambda: os.setuid(65534)) if os.getuid() == 0 else None
    check = checks_of(venturi, env={"VENTURI_SYSFS": tmp_path / "sys"}, preexec_fn=drop)[2]["energy"]
    assert check["state"] == "note" and "estimated (tdp" in check["found"]
    assert "intel-rapl:0/energy_uj is for root" in check["hint"]
    assert "sudo udevadm trigger" in check["hint"]


def test_no_energy_counters(venturi, tmp_path):
    check = checks_of(venturi, env={"VENTURI_SYSFS": tmp_path})[2]["energy"]
    assert check["state"] == "note" and check["hint"].startswith("no energy counters: ")
