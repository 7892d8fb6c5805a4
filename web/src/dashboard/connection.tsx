/* Says whether what is shown is now: live, over, stopped by the reader, or stale, why, and when it is tried again. */

import { Button } from "../ui/parts";
import { Sentence } from "../ui/sentence";
import { formatDuration, formatMoment, formatShare } from "../ui/format";
import { clean } from "../ui/text";
import type { Link } from "./data/feed";
import type { State } from "./data/types";
import { clockText } from "./data/clock";
import { frozen, isStale, isUnreadable, link, origin, range, second, shown } from "./state";

type Tone = "good" | "calm" | "bad";

/* What to say, without anything that changes by itself: it is read out when it changes. */
export function sentenceOf(now: Link, state: State | null, isStopped: boolean): { tone: Tone; text: string } {
  const stale = state ? " What is shown here is the last that came." : "";

  if (now.state === "refused")
    return {
      tone: "bad",
      text: `${now.why} Open the address that \`venturi serve\` printed: it carries a token, which is new at every start.${stale}`,
    };
  if (now.state === "ended" && state && !state.is_growing)
    return {
      tone: "calm",
      text: `The program has ended, and the server has stopped: what is shown is all of it. \`venturi serve ${clean(state.path || "FILE", 200)}\` opens it again.`,
    };
  if (now.state === "ended") return { tone: "bad", text: `The server has stopped.${stale}` };
  /* The same while it is tried again. */
  if (now.state === "waiting" || (now.state === "connecting" && now.tries > 0))
    return { tone: "bad", text: `Stale. ${now.why}${stale}` };
  if (now.state === "connecting") return { tone: "calm", text: "Connecting…" };
  if (isStopped) return { tone: "calm", text: "Stopped." };
  if (!state) return { tone: "calm", text: "Connected." };
  if (state.cluster && !state.cluster.is_connected)
    return {
      tone: "bad",
      text: `The cluster does not answer: ${state.cluster.error || "it is asked again"}.`,
    };
  return state.is_growing
    ? { tone: "good", text: "Live" }
    : { tone: "calm", text: "Over: nobody records any more." };
}

export function Connection({ connect }: { connect(): void }) {
  const now = link.value;
  const state = shown.value;
  const { tone, text } = sentenceOf(now, state, frozen.value !== null);

  return (
    <section class={`connection is-${tone}`} aria-label="Connection">
      <span class="connection-mark" aria-hidden="true">
        {tone === "good" ? "●" : tone === "bad" ? "▲" : "■"}
      </span>
      <span role="status" class="connection-text" data-link={now.state}>
        <Sentence
          text={
            isUnreadable.value ? "The server says what this page does not understand: load it anew." : text
          }
        />
        {state && state.caught_up < 1 ? " The file is being read: sums are of a part of it." : ""}
        {state?.is_partial && state.since_ms
          ? ` Counted since ${formatMoment(state.since_ms)}: earlier files of the spool were gone.`
          : ""}
        {state?.notice ? <span class="is-bad"> ▲ {clean(state.notice, 300)}</span> : null}
      </span>
      <Details state={state} />
      {(now.state === "waiting" || now.state === "ended" || now.state === "refused") && (
        <Button onClick={connect}>Try now</Button>
      )}
    </section>
  );
}

/* What changes by itself. */
function Details({ state }: { state: State | null }) {
  const { from, to } = range.value;
  const at = (time: number) => clockText(origin() + time / 1e6, (to - from) / 100);
  const parts: string[] = [];

  void second.value;
  if (isStale.value && state) parts.push(`as of ${clockText(state.now_ms, 1e9)}`);
  if (link.value.state === "waiting")
    parts.push(`next try in ${Math.max(0, Math.ceil((link.value.retryAt - performance.now()) / 1000))} s`);
  if (frozen.value) parts.push(`${at(from)} – ${at(to)}`);
  if (state && state.caught_up < 1) parts.push(formatShare(state.caught_up));
  if (state && !frozen.value && !isStale.value) parts.push(formatDuration(state.duration_ns));
  return <span class="muted connection-details">{parts.join(" · ")}</span>;
}
