/* Steps: messages a second, how long one takes, failures, and how old messages are when they come. */

import { useMemo } from "preact/hooks";
import { formatCount, formatShare, formatTime } from "../../ui/format";
import type { TableColumn } from "../../ui/table";
import { clean } from "../../ui/text";
import type { Phase, StepState } from "../data/types";
import { columnMaker, LiveTable, withValues } from "../live-table";
import type { Panel, PanelProps } from "../panel";
import { formatMany, formatRate } from "../words";

const mean = (phase: Phase | null) => (phase && phase.count ? phase.sum_ns / phase.count : null);

function columnsOf(list: StepState[]): TableColumn[] {
  const { word, number } = columnMaker(list);
  const failed = (step: StepState) => (step.messages ? step.failed / step.messages : null);
  const p50 = (step: StepState) => (step.count ? step.recent_p50_ns || step.p50_ns : null);
  const p99 = (step: StepState) => (step.count ? step.recent_p99_ns || step.p99_ns : null);
  const columns = [
    word("source", "Step", (step) => clean(step.source, 120), { width: 110, isWide: true }),
    number("messages_per_s", "Messages/s", "In the last second", (step) => step.messages_per_s, formatRate, {
      width: 100,
    }),
    number("messages", "Messages", "Since the beginning", (step) => step.messages, formatMany, {
      width: 100,
    }),
    number(
      "execution_p50_ns",
      "p50",
      "Execution time: half of the last minute's were not longer",
      p50,
      formatTime,
      { leaves: 4 },
    ),
    number(
      "execution_p99_ns",
      "p99",
      "Execution time: 99 of 100 of the last minute's were not longer",
      p99,
      formatTime,
      { leaves: 2 },
    ),
    number(
      "failed",
      "Failed",
      "Messages that failed, those of failed batches among them",
      (step) => step.failed,
      formatMany,
      { leaves: 1 },
    ),
    number(
      "failed_share",
      "Of all",
      "Messages that failed, of all that were dealt with",
      failed,
      formatShare,
      {
        leaves: 8,
      },
    ),
    number("lag_ns", "Lag", "How old the last message was when it came", (step) => step.lag_ns, formatTime, {
      leaves: 3,
    }),
    number("pre_ns", "Before", "pre_execute, on average", (step) => mean(step.pre), formatTime, {
      leaves: 9,
    }),
    number("post_ns", "After", "post_execute, on average", (step) => mean(step.post), formatTime, {
      leaves: 10,
    }),
    number("produce_ns", "Produce", "Handing on, on average", (step) => mean(step.produce), formatTime, {
      leaves: 7,
    }),
    number("largest_batch", "Batch", "The largest", (step) => step.largest_batch, formatCount, { leaves: 6 }),
    number("processes", "Processes", "That run it", (step) => step.processes, formatCount, {
      width: 88,
      leaves: 5,
    }),
    word("survey", "Survey", (step) => clean(step.survey, 60), { leaves: 11 }),
  ];

  return withValues(columns, ["lag_ns", "pre_ns", "post_ns", "produce_ns", "survey"], list.length);
}

function Steps({ state }: PanelProps) {
  const { list, more } = state.steps;
  const columns = useMemo(() => columnsOf(list), [list]);

  return (
    <LiveTable
      name="steps"
      title={state.title}
      label="Steps"
      columns={columns}
      count={list.length}
      more={more}
      order={{ column: "messages", isDescending: true }}
      textOf={(row) => list[row]!.source}
    />
  );
}

export const stepsPanel: Panel = {
  id: "steps",
  title: "Steps",
  question: "How many messages does each step deal with, how long does it take, how far is it behind?",
  width: "whole",
  missing: (state) =>
    state.steps.count
      ? null
      : "No steps: `venturi new-step NAME` writes one that runs as it is; see docs/steps.md.",
  component: Steps,
};
