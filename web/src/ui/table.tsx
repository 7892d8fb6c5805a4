/* A table of any number of rows: only those in sight are in the document. Sorted by its heads, walked with the arrow keys, saved as CSV. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type KeyAction, useKeys } from "../state/keys";
import { matcher } from "../state/search";
import { fileName, saveText, toCsv } from "./save";
import { useSize } from "./use";

/* Rows are numbers: of a table of the page, or of whatever list the view keeps. */
export interface TableColumn {
  id: string;
  title: string;
  hint?: string;
  isNumber?: boolean; // right-aligned; sorted from the largest first
  width: number; // CSS pixels; the one with isWide takes what is left
  isWide?: boolean;
  leaves?: number; // where there is no room for all: the highest first; files have it all the same
  text(row: number): string;
  value(row: number): number | string; // to sort by, and for CSV
  share?(row: number): number; // 0 … 1: a bar behind the number
  shade?(row: number): string; // its colour, where that says something
  cell?(row: number): ComponentChildren; // instead of text()
}

export interface Order {
  column: string;
  isDescending: boolean;
}

export interface TableProps {
  name: string; // in file names
  title: string; // of the recording, in file names
  label: string;
  columns: TableColumn[];
  rows: ArrayLike<number>;
  order: Order;
  onOrder(order: Order): void;
  isSelected?(row: number): boolean;
  isMatch?(row: number): boolean;
  isLast?(row: number): boolean; // stays below the others, whatever orders them
  onChoose?(row: number, isAdded: boolean): void; // click, Enter; isAdded with Control or Shift
  onFocusRow?(row: number): void;
  isMain?: boolean; // the view is about it: its keys work at once
  empty?: string; // what to say without rows
}

const ROW = 28;
const EXTRA = 6;

/* The rows in order; equal ones stay as they came. NaN goes last. */
export function sortRows(
  rows: ArrayLike<number>,
  column: TableColumn | undefined,
  isDescending: boolean,
): Uint32Array {
  const list = Array.from(rows);

  if (column) {
    const keys = new Map(list.map((row) => [row, column.value(row)]));
    const sign = isDescending ? -1 : 1;
    list.sort((a, b) => sign * compare(keys.get(a)!, keys.get(b)!, sign));
  }
  return Uint32Array.from(list);
}

/* Some stay below the others. */
export function putLast(rows: Uint32Array, isLast: (row: number) => boolean): Uint32Array {
  return Uint32Array.from([...rows.filter((row) => !isLast(row)), ...rows.filter(isLast)]);
}

function compare(a: number | string, b: number | string, sign: number): number {
  if (typeof a === "string" || typeof b === "string")
    return String(a).localeCompare(String(b), "en", { numeric: true });
  if (Number.isNaN(a) || Number.isNaN(b))
    return Number.isNaN(a) === Number.isNaN(b) ? 0 : Number.isNaN(a) ? sign : -sign;
  return a - b;
}

export function tableCsv(columns: TableColumn[], rows: ArrayLike<number>): string {
  return toCsv(
    columns.map((column) => column.id),
    Array.from(rows, (row) => columns.map((column) => column.value(row))),
  );
}

/* Those that a width has room for; what orders the rows stays. */
export function columnsWithin(all: TableColumn[], width: number, order: string): TableColumn[] {
  const leaving = all.filter((one) => one.leaves && one.id !== order);
  let wide = all.reduce((sum, one) => sum + one.width, 0);
  const gone = new Set<TableColumn>();

  for (const one of leaving.sort((a, b) => b.leaves! - a.leaves!)) {
    if (wide <= width) break;
    gone.add(one);
    wide -= one.width;
  }
  return all.filter((one) => !gone.has(one));
}

export function VirtualTable(given: TableProps) {
  const { order } = given;
  const [frame, size] = useSize<HTMLDivElement>();
  const columns = useMemo(
    () => columnsWithin(given.columns, size.width || Infinity, order.column),
    [given.columns, size.width, order.column],
  );
  const props = { ...given, columns };
  const missing = given.columns.filter((column) => !columns.includes(column));
  const [top, setTop] = useState(0);
  const [focus, setFocus] = useState(0);
  const isKeyboard = useRef(false);
  const sorted = useMemo(() => {
    const found = sortRows(
      props.rows,
      columns.find((column) => column.id === order.column),
      order.isDescending,
    );
    return props.isLast ? putLast(found, props.isLast) : found;
  }, [props.rows, columns, order.column, order.isDescending]);
  const first = Math.max(0, Math.floor(top / ROW) - EXTRA);
  const last = Math.min(sorted.length, Math.ceil((top + (size.height || 600)) / ROW) + EXTRA);
  const at = Math.min(focus, Math.max(0, sorted.length - 1));
  const template = columns.map((c) => (c.isWide ? `minmax(${c.width}px, 1fr)` : `${c.width}px`)).join(" ");

  const focusRow = () => {
    isKeyboard.current = false;
    frame.current?.querySelector<HTMLElement>(`[data-at="${at}"]`)?.focus({ preventScroll: true });
  };
  /* At once: a focus that comes after the next key would undo its step. */
  useLayoutEffect(() => {
    if (isKeyboard.current) focusRow();
  });

  const moveTo = (next: number) => {
    const element = frame.current;
    const to = Math.max(0, Math.min(sorted.length - 1, next));
    const y = to * ROW;
    const head = ROW;

    if (!element || sorted.length === 0) return;
    isKeyboard.current = true;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + ROW + head > element.scrollTop + element.clientHeight)
      element.scrollTop = y + ROW + head - element.clientHeight;
    if (to === at && element.scrollTop === top) focusRow(); // nothing else changes
    setTop(element.scrollTop);
    setFocus(to);
    props.onFocusRow?.(sorted[to]!);
  };
  /* Keys that come here were pressed outside of the table: the first one enters it. A search has its own meaning of Enter. */
  const mainKeys = (): KeyAction[] => [
    { keys: ["ArrowDown", "ArrowUp"], title: "to the rows", run: () => moveTo(at) },
    { keys: ["Home"], title: "first row", run: () => moveTo(0) },
    { keys: ["End"], title: "last row", run: () => moveTo(sorted.length - 1) },
    ...(props.onChoose && !matcher.value.isActive
      ? [{ keys: ["Enter"], title: "choose the row", run: () => props.onChoose?.(sorted[at]!, false) }]
      : []),
  ];
  useKeys("In the table", props.isMain && sorted.length ? mainKeys() : []);
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(size.height / ROW) - 2);
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: sorted.length - 1,
    };
    const next = steps[event.key];

    if (
      (event.target as HTMLElement).getAttribute("role") === "columnheader" ||
      event.target instanceof HTMLButtonElement
    )
      return;
    if (next !== undefined) moveTo(next);
    else if (event.key === "Enter" && sorted.length)
      props.onChoose?.(sorted[at]!, event.shiftKey || event.ctrlKey);
    else return;
    event.preventDefault();
  };
  const rows = [];

  for (let i = first; i < last; i++)
    rows.push(
      <Row
        key={i}
        at={i}
        row={sorted[i]!}
        props={props}
        template={template}
        isFocus={i === at}
        onFocus={() => {
          setFocus(i);
          props.onFocusRow?.(sorted[i]!);
        }}
      />,
    );
  return (
    <div class="table-frame">
      <div
        class="table"
        role="grid"
        aria-label={props.label}
        aria-rowcount={sorted.length + 1}
        aria-colcount={columns.length}
        ref={frame}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
      >
        <Head props={props} template={template} />
        <div role="rowgroup" class="table-body" style={{ height: `${sorted.length * ROW}px` }}>
          {rows}
        </div>
        {sorted.length === 0 && <p class="empty">{props.empty ?? "Nothing to show."}</p>}
      </div>
      <div class="table-foot">
        <span class="muted">
          {sorted.length.toLocaleString("en-US")} {sorted.length === 1 ? "row" : "rows"}
          {missing.length > 0 &&
            `; no room for ${missing.map((column) => column.title).join(", ")}: the file has all columns`}
        </span>
        <button
          type="button"
          class="button"
          title="Save all rows as CSV"
          onClick={() =>
            saveText(fileName(props.title, props.name, "csv"), "text/csv", tableCsv(given.columns, sorted))
          }
        >
          CSV
        </button>
      </div>
    </div>
  );
}

function Head({ props, template }: { props: TableProps; template: string }) {
  return (
    <div role="rowgroup" class="table-head">
      <div role="row" class="table-row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {props.columns.map((column) => {
          const isOrder = props.order.column === column.id;
          const isDescending = isOrder ? !props.order.isDescending : column.isNumber === true;
          return (
            <div
              key={column.id}
              role="columnheader"
              aria-sort={isOrder ? (props.order.isDescending ? "descending" : "ascending") : "none"}
              class={column.isNumber ? "is-number" : ""}
            >
              <button
                type="button"
                title={column.hint}
                onClick={() => props.onOrder({ column: column.id, isDescending })}
              >
                {column.title}
                <span aria-hidden="true">{isOrder ? (props.order.isDescending ? " ↓" : " ↑") : ""}</span>
              </button>
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Row(row: {
  at: number;
  row: number;
  props: TableProps;
  template: string;
  isFocus: boolean;
  onFocus(): void;
}) {
  const { props } = row;
  const isSelected = props.isSelected?.(row.row) ?? false;
  const isMatch = props.isMatch?.(row.row) ?? false;

  return (
    <div
      role="row"
      data-at={row.at}
      aria-rowindex={row.at + 2}
      aria-selected={isSelected}
      tabIndex={row.isFocus ? 0 : -1}
      class={`table-row${isSelected ? " is-selected" : ""}${isMatch ? " is-match" : ""}`}
      style={{ gridTemplateColumns: row.template, top: `${row.at * ROW}px` }}
      onFocus={row.onFocus}
      onClick={(event) => props.onChoose?.(row.row, event.ctrlKey || event.metaKey || event.shiftKey)}
    >
      {props.columns.map((column) => (
        <div
          role="gridcell"
          key={column.id}
          class={column.isNumber ? "is-number" : ""}
          title={column.isWide ? column.text(row.row) : undefined}
        >
          {column.share && (
            <span
              class="cell-bar"
              aria-hidden="true"
              style={{
                width: `${Math.min(100, Math.max(0, column.share(row.row) * 100)) || 0}%`,
                background: column.shade?.(row.row),
              }}
            />
          )}
          <span class="cell-text">{column.cell ? column.cell(row.row) : column.text(row.row)}</span>
        </div>
      ))}
    </div>
  );
}
