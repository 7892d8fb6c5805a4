/* The bar that says what is selected, piece by piece, each with its own way out. */

import type { PageData } from "../data/types";
import { choose, chooseBack, chooseNothing, chooseRange, chooseTracks, isEmpty } from "../state/choose";
import { selection } from "../state/selection";
import { formatDuration, formatTime } from "./format";
import { Button } from "./parts";
import { clean } from "./text";
import { trackName } from "./threads";

function Chip({ label, text, onRemove }: { label: string; text: string; onRemove(): void }) {
  return (
    <span class="chip">
      <span class="muted">{label}</span> {text}
      <button type="button" aria-label={`Remove ${label} ${text} from the selection`} onClick={onRemove}>
        ×
      </button>
    </span>
  );
}

/* "a, b and 3 more". */
function listOf(names: string[], shown = 2): string {
  const left = names.length - shown;

  return left > 0 ? `${names.slice(0, shown).join(", ")} and ${left} more` : names.join(", ");
}

export function SelectionBar({ data }: { data: PageData }) {
  const now = selection.value;

  if (isEmpty(now)) return null;
  return (
    <div class="selected" role="region" aria-label="Selection">
      {now.range && (
        <Chip
          label="time"
          text={`${formatTime(now.range.from)} to ${formatTime(now.range.to)} (${formatDuration(now.range.to - now.range.from)})`}
          onRemove={() => chooseRange(null)}
        />
      )}
      {now.tracks && (
        <Chip
          label={now.tracks.length === 1 ? "thread" : "threads"}
          text={listOf(now.tracks.map((track) => trackName(data.recording, track)))}
          onRemove={() => chooseTracks(null)}
        />
      )}
      {now.frames.map((key) => (
        <Chip
          key={key}
          label="name"
          text={clean(key.split("\u0001")[0] || "(no name)", 60)}
          onRemove={() => choose({ frames: now.frames.filter((one) => one !== key) })}
        />
      ))}
      {now.span && (
        <Chip
          label="span"
          text={`at ${formatTime(now.span.start)}`}
          onRemove={() => choose({ span: null })}
        />
      )}
      <span class="gap" />
      <Button onClick={chooseBack} title="The selection before (b)">
        Back
      </Button>
      <Button onClick={chooseNothing} title="Select nothing (Esc)">
        Clear
      </Button>
    </div>
  );
}
