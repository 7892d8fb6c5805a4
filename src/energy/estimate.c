/*
 * estimate.c - what processors use, from their name and how busy they are, where no counter may be read.
 *
 * P = rest + (TDP - rest) * busy, one formula for machine and program, so that shares add up. A processor that is not in
 * the table, or in it with several powers, is taken for so many watts a thread, and that is said.
 */
#include "energy/meter.h"
#include "energy/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUINFO_BYTES (1u << 20)
#define SOCKETS_MOST 256
#define THREAD_W 4.0
#define REST_PART 0.1 /* of what it uses at full load */

struct processor {
    char name[96]; /* "" if the kernel does not tell */
    unsigned sockets, threads;
    bool is_virtual;
};

/* The value of "KEY : VALUE" if that is what the line says. */
static const char *value_of(const char *line, const char *key)
{
    size_t len = strlen(key);
    const char *at = line + len;

    if (strncmp(line, key, len))
        return NULL;
    at += strspn(at, " \t");
    return *at == ':' ? at + 1 + strspn(at + 1, " \t") : NULL;
}

static void read_processor(const vt_energy *meter, struct processor *processor)
{
    unsigned char is_socket[SOCKETS_MOST] = {0};
    char *text = malloc(CPUINFO_BYTES);
    char path[256];
    const char *value;

    *processor = (struct processor){.threads = meter->machine.cpu_count};
    if (!text || !vti_energy_path(path, sizeof path, "%s/cpuinfo", meter->procfs) ||
        !vti_energy_read_text(&meter->hooks, path, text, CPUINFO_BYTES))
        goto out;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        value = value_of(line, "model name");
        if (value && !*processor->name)
            snprintf(processor->name, sizeof processor->name, "%.*s", (int)strcspn(value, "\n"),
                     value);
        value = value_of(line, "physical id");
        if (value)
            is_socket[strtoul(value, NULL, 10) % SOCKETS_MOST] = 1;
        value = value_of(line, "flags");
        if (value && !processor->is_virtual) {
            const char *flag = strstr(value, " hypervisor");

            processor->is_virtual = flag && flag < value + strcspn(value, "\n");
        }
    }
    for (unsigned i = 0; i < SOCKETS_MOST; i++)
        processor->sockets += is_socket[i];
out:
    processor->sockets += !processor->sockets;
    free(text);
}

static void describe(struct vti_counter *counter, const struct processor *processor)
{
    struct vt_energy_source *source = &counter->source;
    char entry[96] = "";
    double watts = 0;
    enum vti_tdp found = vti_tdp_find(processor->name, &watts, entry, sizeof entry);

    if (found == VTI_TDP_FOUND) {
        source->watts = watts * processor->sockets;
        snprintf(source->note, sizeof source->note, "%.60s: %g W%s%.0d%s", entry, watts,
                 processor->sockets > 1 ? " x " : "",
                 processor->sockets > 1 ? (int)processor->sockets : 0,
                 processor->is_virtual ? ", all of it for a virtual machine" : "");
        return;
    }
    source->watts = THREAD_W * processor->threads;
    snprintf(source->note, sizeof source->note, "%.40s: %s; taken for %g W a thread, %u threads",
             *processor->name ? processor->name : "processor without a name",
             found == VTI_TDP_AMBIGUOUS ? "several in the table" : "not in the table", THREAD_W,
             processor->threads);
}

void vti_estimate_find(vt_energy *meter, double given_watts)
{
    struct vti_counter *counter = vti_meter_add(
        meter, VT_ENERGY_CPU, given_watts > 0 ? VT_ENERGY_GIVEN : VT_ENERGY_ESTIMATED,
        given_watts > 0 ? "given" : "tdp", "processors");
    struct processor processor;

    if (!counter)
        return;
    counter->kind = VTI_COUNTER_LOAD;
    counter->source.watts = given_watts;
    if (given_watts <= 0) {
        read_processor(meter, &processor);
        describe(counter, &processor);
        vti_advice_none(meter, processor.is_virtual);
    }
    counter->source.idle_watts = REST_PART * counter->source.watts;
    meter->idle_guess_watts = counter->source.idle_watts;
}

double vti_estimate_idle(const vt_energy *meter)
{
    struct processor processor;
    struct vti_counter *counter = calloc(1, sizeof *counter);
    double watts = 0;

    if (!counter)
        return 0;
    read_processor(meter, &processor);
    describe(counter, &processor);
    watts = REST_PART * counter->source.watts;
    free(counter);
    return watts;
}
