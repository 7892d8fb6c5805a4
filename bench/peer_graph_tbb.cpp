/* peer_graph_tbb.cpp - oneTBB: independent tasks in a task group, the others as a flow graph of continue nodes, built and run each time. */
#include "peer_graph.h"

#include <deque>
#include <memory>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_group.h>

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

extern "C" const char *const peer_name = "tbb";
static std::unique_ptr<tbb::global_control> threads;

static void nothing(const tbb::flow::continue_msg &)
{
    __asm__ volatile("" : : : "memory");
}

void peer_open(void)
{
    threads = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                    2);
}

void peer_close(void)
{
    threads.reset();
}

void peer_ep(uint32_t count)
{
    tbb::task_group group;

    for (uint32_t i = 0; i < count; i++)
        group.run([] { nothing({}); });
    group.wait();
}

void peer_chain(uint32_t count)
{
    tbb::flow::graph graph;
    std::deque<node> nodes;

    for (uint32_t i = 0; i < count; i++) {
        nodes.emplace_back(graph, nothing);
        if (i > 0)
            tbb::flow::make_edge(nodes[i - 1], nodes[i]);
    }
    nodes[0].try_put({});
    graph.wait_for_all();
}

void peer_tree(uint32_t count)
{
    tbb::flow::graph graph;
    std::deque<node> nodes;
    uint32_t from = 0, to = count / 2, leaves = to;

    for (uint32_t i = 0; i < to; i++)
        nodes.emplace_back(graph, nothing);
    while (to - from > 1) {
        for (uint32_t i = from; i < to; i += 2) {
            nodes.emplace_back(graph, nothing);
            tbb::flow::make_edge(nodes[i], nodes.back());
            if (i + 1 < to)
                tbb::flow::make_edge(nodes[i + 1], nodes.back());
        }
        from = to;
        to = static_cast<uint32_t>(nodes.size());
    }
    for (uint32_t i = 0; i < leaves; i++)
        nodes[i].try_put({});
    graph.wait_for_all();
}
