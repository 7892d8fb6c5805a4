/* The services of a trace with their colours: each a switch that hides its spans. */

import type { Service, TraceSpans } from "../../model/traces";
import { css } from "../../ui/colour";
import { formatChange, formatCount, formatTime } from "../../ui/format";
import { clean } from "../../ui/text";
import { hideServices } from "./address";

export function servicesIn(spans: TraceSpans, services: Service[]): { index: number; count: number }[] {
  const counts = new Uint32Array(services.length);

  for (const service of spans.service) counts[service]!++;
  return services.map((_, index) => ({ index, count: counts[index]! })).filter(({ count }) => count > 0);
}

function hintOf(service: Service, count: number): string {
  const skews = service.skews.map(
    ({ pid, host, ns }) =>
      `process ${pid}${host ? ` on ${clean(host, 60)}` : ""} ${formatChange(ns, formatTime)}`,
  );
  const moved = skews.length ? `. Its clock differed, times were moved: ${skews.slice(0, 4).join(", ")}` : "";

  return `${formatCount(count)} ${count === 1 ? "span" : "spans"}${
    service.hosts.length
      ? ` on ${service.hosts
          .slice(0, 4)
          .map((host) => clean(host, 60))
          .join(", ")}`
      : ""
  }${moved}. Click to hide them; with Shift, to hide all others.`;
}

export function Legend(props: {
  list: { index: number; count: number }[];
  services: Service[];
  hidden: ReadonlySet<number>;
}) {
  const { list, services, hidden } = props;
  const toggle = (index: number, isOnly: boolean) => {
    const others = list.map((one) => one.index).filter((one) => one !== index);
    const isOnlyNow = !hidden.has(index) && others.every((one) => hidden.has(one));
    if (isOnly) hideServices(new Set(isOnlyNow ? [] : others));
    else
      hideServices(
        new Set(hidden.has(index) ? [...hidden].filter((one) => one !== index) : [...hidden, index]),
      );
  };

  return (
    <div class="pills traces-legend" role="group" aria-label="Services">
      {list.map(({ index, count }) => (
        <button
          key={index}
          type="button"
          aria-pressed={!hidden.has(index)}
          title={hintOf(services[index]!, count)}
          onClick={(event) => toggle(index, event.shiftKey)}
        >
          <span
            class="swatch"
            aria-hidden="true"
            ref={(element) => element?.style.setProperty("background", css(services[index]!.colour))}
          />
          {clean(services[index]!.name, 40) || "(no name)"} <span class="muted">{formatCount(count)}</span>
          {services[index]!.skews.length > 0 && <span class="muted">clock moved</span>}
        </button>
      ))}
    </div>
  );
}
