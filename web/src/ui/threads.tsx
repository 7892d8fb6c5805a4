/* Which threads count: a list of processes and their threads to choose from. */

import { column, type PageData, type Recording } from "../data/types";
import { serviceOfProcess } from "../model/traces";
import { chooseTracks } from "../state/choose";
import { selection } from "../state/selection";
import { formatCount } from "./format";
import { useDialog } from "./help";
import { Button } from "./parts";
import { clean } from "./text";

/* "MainThread 4120"; a thread without a name goes by its number. */
export function trackName(recording: Recording, track: number): string {
  const one = recording.tracks[track];

  if (!one) return `thread ${track}`;
  return one.name ? clean(one.name, 60) : `thread ${one.tid || one.id}`;
}

/* "engine · python3 4120": with the service that its traces say it is. */
export function processName(data: PageData, process: number): string {
  const one = data.recording.processes[process];

  if (!one) return "no process";
  const name = `${clean(one.name || one.command || "process", 60)} ${one.pid || ""}`.trim();
  return [clean(serviceOfProcess(data, process), 60), name].filter(Boolean).join(" · ");
}

/* Processes with their threads; -1 for threads that belong to none. */
export function tracksByProcess(recording: Recording): { process: number; tracks: number[] }[] {
  const groups = new Map<number, number[]>(recording.processes.map((_, i) => [i, []]));

  recording.tracks.forEach((track, i) => {
    const process = recording.processes[track.process] ? track.process : -1;
    groups.set(process, [...(groups.get(process) ?? []), i]);
  });
  return [...groups].map(([process, tracks]) => ({ process, tracks }));
}

export function Threads({ data, onClose }: { data: PageData; onClose(): void }) {
  const dialog = useDialog(onClose);
  const { recording } = data;
  const all = recording.tracks.map((_, i) => i);
  const spans = recording.tracks.map((track) => track.spans);
  for (const track of column(data, "async", "track")) spans[track]! += 1;
  const chosen = new Set(selection.value.tracks ?? all);
  const set = (tracks: number[], isOn: boolean) => {
    const next = new Set(chosen);
    for (const track of tracks)
      if (isOn) next.add(track);
      else next.delete(track);
    chooseTracks(next.size === all.length || next.size === 0 ? null : [...next].sort((a, b) => a - b));
  };
  const box = (tracks: number[], text: string, note: string) => (
    <label>
      <input
        type="checkbox"
        checked={tracks.every((track) => chosen.has(track))}
        onChange={(event) => set(tracks, event.currentTarget.checked)}
      />
      {text} <span class="muted">{note}</span>
    </label>
  );

  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="threads-title">
      <header>
        <h2 id="threads-title">Threads</h2>
        <Button onClick={() => chooseTracks(null)}>All</Button>
        <Button onClick={onClose}>Close</Button>
      </header>
      <div class="threads">
        {all.length === 0 && <p class="empty">This recording names no threads.</p>}
        {tracksByProcess(recording)
          .filter((group) => group.tracks.length > 0)
          .map((group) => (
            <fieldset key={group.process}>
              <legend>{processName(data, group.process)}</legend>
              {group.tracks.length > 1 && box(group.tracks, "all of them", "")}
              {group.tracks.map((track) => (
                <div key={track} class="threads-one">
                  {box(
                    [track],
                    trackName(recording, track),
                    `${formatCount(spans[track]!)} ${spans[track] === 1 ? "span" : "spans"}`,
                  )}
                  <Button onClick={() => chooseTracks([track])} title="Only this thread">
                    only
                  </Button>
                </div>
              ))}
            </fieldset>
          ))}
      </div>
    </dialog>
  );
}
