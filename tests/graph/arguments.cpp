/* arguments.cpp - venturi/graph.h from C++: values, arguments and options as a C++ program writes them. */
#include <venturi/graph.h>

#include <cstdio>

static int add(struct vt_call *call)
{
    int64_t sum = 0;

    for (size_t i = 0; i < call->arg_count; i++) {
        if (call->args[i]->type != VT_DATUM_INT)
            return vt_call_fail(call, "no number");
        sum += call->args[i]->as.number;
    }
    call->result = vt_datum_int(sum);
    return 0;
}

int main()
{
    vt_graph *graph = vt_graph_new();
    const uint32_t one = vt_graph_literal(graph, "one", vt_datum_int(1));
    unsigned ten = 10;
    const struct vt_arg args[] = {VT_ARG_KEY("one"), VT_ARG_TASK(one), VT_ARG_INT(ten)};
    struct vt_run_options options = {};
    bool is_right;

    vt_graph_task(graph, "sum", "add", add, nullptr, args, 3);
    options.size = sizeof options;
    options.scheduler = VT_THREADS;
    vt_run *run = vt_run_new(graph, &options);
    is_right = vt_run_want(run, "sum") == 0 && vt_run_go(run) == 0 &&
               vt_run_result(run, 0)->as.number == 12 && args[0].type == VT_ARG_IS_KEY;
    if (!is_right)
        std::fprintf(stderr, "%s\n", vt_run_error(run) ? vt_run_error(run)->message : "wrong");
    vt_run_free(run);
    vt_graph_free(graph);
    return is_right ? 0 : 1;
}
