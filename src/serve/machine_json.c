/* machine_json.c - what is not of the program itself in a state as JSON: resources, energy, items, losses, cost, shipper, cluster. */
#include "serve/serve.h"

#include <math.h>

static void add_resources(struct vti_json *json, const struct vti_live *live)
{
    struct vti_live_resources resources;

    vti_live_resources(live, &resources);
    if (!resources.is_known) {
        vti_json_add_null(json, "resources");
        return;
    }
    vti_json_key(json, "resources");
    vti_json_object(json);
    vti_json_add_usage(json, &resources.usage);
    vti_json_add_known(json, "processes", resources.processes);
    vti_json_add_rate(json, "machine_busy", resources.machine_busy);
    vti_json_add_known(json, "available_bytes", resources.available_bytes);
    vti_json_object_end(json);
}

static void add_energy(struct vti_json *json, const struct vti_live *live)
{
    struct vti_live_energy energy;

    vti_live_energy(live, &energy);
    if (!energy.is_known) {
        vti_json_add_null(json, "energy");
        return;
    }
    vti_json_key(json, "energy");
    vti_json_object(json);
    vti_json_add_double(json, "joules", energy.joules);
    vti_json_add_rate(json, "watts", energy.watts);
    vti_json_add_double(json, "own_joules", energy.own_joules);
    vti_json_add_rate(json, "own_watts", energy.own_watts);
    vti_json_add_double(json, "grams", energy.grams);
    vti_json_add_double(json, "intensity", energy.intensity);
    vti_json_key(json, "parts");
    vti_json_array(json);
    for (size_t i = 0; i < energy.part_count; i++) {
        vti_json_object(json);
        vti_json_add_string(json, "name", energy.parts[i].name);
        vti_json_add_string(json, "how", energy.parts[i].how);
        vti_json_add_double(json, "joules", energy.parts[i].joules);
        vti_json_add_rate(json, "watts", energy.parts[i].watts);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
    vti_json_object_end(json);
}

static void add_items(struct vti_json *json, const struct vti_live *live)
{
    struct vti_live_items items;

    vti_live_items(live, &items);
    if (!items.is_counted) {
        vti_json_add_null(json, "items");
        return;
    }
    vti_json_key(json, "items");
    vti_json_object(json);
    vti_json_add_double(json, "raw", items.raw);
    vti_json_add_double(json, "effective", items.effective);
    vti_json_add_rate(json, "raw_per_s", items.raw_per_s);
    vti_json_add_rate(json, "effective_per_s", items.effective_per_s);
    vti_json_add_double(json, "wall_s", items.wall_s);
    vti_json_add_double(json, "j_per_1000", items.joules_per_1000);
    vti_json_object_end(json);
}

static void add_losses(struct vti_json *json, const struct vti_live *live)
{
    size_t count;
    const struct vti_live_loss *losses = vti_live_losses(live, &count);

    vti_json_key(json, "losses");
    vti_json_array(json);
    for (size_t i = 0; i < count; i++) {
        vti_json_object(json);
        vti_json_add_string(json, "reason", losses[i].reason);
        vti_json_add_uint(json, "events", losses[i].events);
        vti_json_add_bool(json, "is_lower_bound", losses[i].is_lower_bound);
        vti_json_add_bool(json, "is_wanted", losses[i].is_wanted);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_cost(struct vti_json *json, const struct vti_serve *serve)
{
    struct vti_live_cost cost;

    vti_live_cost(serve->live, &cost);
    vti_json_key(json, "cost");
    vti_json_object(json);
    vti_json_add_rate(json, "program_ns", round(cost.program_ns));
    vti_json_add_rate(json, "program_share", cost.program_share);
    vti_json_add_rate(json, "drainer_cpu", cost.drainer_cpu);
    vti_json_add_rate(json, "server_cpu", cost.own_cpu);
    vti_json_add_uint(json, "server_cpu_ns", cost.own_cpu_ns);
    vti_json_add_known(json, "server_memory_bytes", cost.own_memory_bytes);
    vti_json_add_int(json, "refresh_ns", cost.refresh_ns);
    vti_json_add_uint(json, "clients", serve->stream_count);
    vti_json_add_uint(json, "dropped", serve->dropped);
    vti_json_object_end(json);
}

static void add_ship(struct vti_json *json, const struct vti_live *live)
{
    struct vti_live_ship ship;

    vti_live_ship(live, &ship);
    if (!ship.is_known) {
        vti_json_add_null(json, "ship");
        return;
    }
    vti_json_key(json, "ship");
    vti_json_object(json);
    vti_json_add_string(json, "store", ship.store);
    vti_json_add_bool(json, "is_running", ship.is_running);
    vti_json_add_uint(json, "waiting", ship.waiting);
    vti_json_add_uint(json, "shipped", ship.shipped);
    vti_json_add_uint(json, "retried", ship.retried);
    vti_json_add_uint(json, "dead", ship.dead);
    vti_json_add_uint(json, "lost", ship.lost);
    vti_json_add_known(json, "spool_bytes", ship.spool_bytes);
    vti_json_add_known(json, "spool_limit_bytes", ship.spool_limit_bytes);
    vti_json_add_string(json, "error", ship.error);
    vti_json_object_end(json);
}

static void add_cluster(struct vti_json *json, const struct vti_live *live)
{
    struct vti_live_cluster cluster;

    vti_live_cluster(live, &cluster);
    if (!cluster.is_known) {
        vti_json_add_null(json, "cluster");
        return;
    }
    vti_json_key(json, "cluster");
    vti_json_object(json);
    vti_json_add_string(json, "address", cluster.address);
    vti_json_add_string(json, "id", cluster.id);
    vti_json_add_string(json, "version", cluster.version);
    vti_json_add_bool(json, "is_connected", cluster.is_connected);
    vti_json_add_string(json, "error", cluster.error);
    vti_json_object_end(json);
}

void vti_state_add_machine(struct vti_json *json, const struct vti_serve *serve)
{
    add_resources(json, serve->live);
    add_energy(json, serve->live);
    add_items(json, serve->live);
    add_losses(json, serve->live);
    add_cost(json, serve);
    add_ship(json, serve->live);
    add_cluster(json, serve->live);
}
