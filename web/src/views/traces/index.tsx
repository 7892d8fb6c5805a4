/* What one request did, service by service: the list of traces, and one of them as a waterfall of its spans. */

import { showView } from "../../state/choose";
import type { Finding, PageData } from "../../data/types";
import { clean } from "../../ui/text";
import type { View, ViewProps } from "../view";
import { showTrace, traceShown } from "./address";
import { TraceList } from "./list";
import "./traces.css";
import { Waterfall } from "./waterfall";

function TracesView({ data }: ViewProps) {
  const trace = traceShown(data);

  return (
    <div class="traces">
      {/* Other pages have them in the overview. */}
      {data.directory.kind === "traces" && <Findings data={data} />}
      {trace < 0 ? <TraceList data={data} /> : <Waterfall key={trace} data={data} trace={trace} />}
    </div>
  );
}

function Findings({ data }: { data: PageData }) {
  const go = ({ refs }: Finding) => showTrace(data, refs[0]?.trace ?? null, refs[0]?.span);

  if (data.directory.findings.length === 0) return null;
  return (
    <ul class="traces-findings" aria-label="Findings">
      {data.directory.findings.map((finding, i) => (
        <li key={i} class={finding.level === "warning" ? "is-warning" : ""}>
          <span aria-hidden="true">{finding.level === "warning" ? "!" : "→"}</span>
          <button type="button" class="link" title="Show it" onClick={() => go(finding)}>
            {clean(finding.text, 500)}
          </button>
        </li>
      ))}
    </ul>
  );
}

/* For findings of other views. */
export function goToTrace(data: PageData, trace: number, span?: number): void {
  showTrace(data, trace, span);
  showView(traces.id);
}

export const traces: View = {
  id: "traces",
  title: "Traces",
  question: "What did one request do, service by service?",
  missing: (data) =>
    data.tables["traces"]?.rows
      ? null
      : "No request was traced: see `venturi trace request`, or `trace.init()` in Python.",
  isOffered: (data) => (data.tables["traces"]?.rows ?? 0) > 0,
  component: TracesView,
};
