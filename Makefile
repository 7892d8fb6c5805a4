# A thin front for Meson and the scripts in tools/. `make help` lists what there is.
#
#   make SANITIZE=address     in build/asan, with ASan and UBSan     (SANITIZE=thread: build/tsan)
#   make CC=clang             in build/clang
#   make install PREFIX=/opt/venturi DESTDIR=/tmp/stage

ifeq ($(origin CC),default)
CC := gcc
endif
CONFIG_address := asan
CONFIG_thread := tsan
CONFIG_ := $(if $(filter clang,$(notdir $(CC))),clang,default)
CONFIG := $(CONFIG_$(SANITIZE))
FOLDER_default := build
BUILD ?= $(or $(FOLDER_$(CONFIG)),build/$(CONFIG))
PREFIX ?= /usr/local
export CC

.PHONY: all check-setup setup demo test bench fuzz soak lint format install clean help

all: check-setup
	@tools/build -C $(BUILD) $(or $(CONFIG),$(error SANITIZE is address or thread, not $(SANITIZE)))

check-setup:
	@tools/setup --check --build || { echo "run tools/setup (make demo and make test do it too)" >&2; exit 1; }

setup:
	@tools/setup

demo: setup
	@tools/demo

test: setup
	@tools/test $(ONLY)

bench:
	@tools/setup --bench
	@tools/build
	@bench/run

fuzz: setup
	@tools/fuzz

soak: setup
	@tools/soak

lint: all
	@tools/lint

format:
	@tools/check-format --fix

install: all
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@DESTDIR=$(if $(DESTDIR),$(abspath $(DESTDIR))) meson install -C $(BUILD)

clean:
	rm -rf build

help:
	@echo "make          build everything under build/; the tool is build/venturi"
	@echo "make demo     set up, build, record an example program, show its tables"
	@echo "make test     set up, then every test (ONLY='unit cli': some of them)"
	@echo "make lint     format, include direction, length, banned functions, headers, symbols, ABI, docs"
	@echo "make bench    one table: ours, the floor and other tracers (installs those)"
	@echo "make fuzz     each fuzz target for a while      (RUNS=… each)"
	@echo "make soak     the long version of the tests and 10 million runs of each fuzz target"
	@echo "make format   rewrite C sources with clang-format"
	@echo "make install  PREFIX=/usr/local DESTDIR="
	@echo "make clean    remove build/"
	@echo "options       SANITIZE=address|thread   CC=clang   BUILD=folder"
