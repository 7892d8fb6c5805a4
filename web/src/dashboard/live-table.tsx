/* A table of what is now: as high as its rows, up to a limit, in an order that the reader chose and that stays. */

import { useMemo, useState } from "preact/hooks";
import { matcher } from "../state/search";
import { type Order, type TableColumn, VirtualTable } from "../ui/table";
import { nothing } from "./words";

const ROW = 28;
const HEAD = 32; // with its border

export interface LiveTableProps {
  name: string;
  title: string;
  label: string;
  columns: TableColumn[];
  count: number;
  more?: number; // that the server left out
  order: Order;
  textOf(row: number): string; // that the search looks through
  mostRows?: number;
  empty?: string;
}

export function LiveTable(props: LiveTableProps) {
  const [order, setOrder] = useState<Order>(props.order);
  const { isActive, test } = matcher.value;
  const rows = useMemo(() => {
    const all = Array.from({ length: props.count }, (_, row) => row);
    return isActive ? all.filter((row) => test(props.textOf(row))) : all;
  }, [props.columns, props.count, isActive, test]);
  const high = Math.max(1, Math.min(props.mostRows ?? 10, props.count)) * ROW + HEAD;

  return (
    <>
      <div class="live-table" ref={(element) => element?.style.setProperty("--high", `${high}px`)}>
        <VirtualTable
          name={props.name}
          title={props.title}
          label={props.label}
          columns={props.columns}
          rows={rows}
          order={order}
          onOrder={setOrder}
          empty={isActive ? nothing(true) : (props.empty ?? nothing(false))}
        />
      </div>
      {props.more ? (
        <p class="muted note">and {props.more.toLocaleString("en-US")} more that the server does not list</p>
      ) : null}
    </>
  );
}

/* ---- columns ---- */

type More<T> = Partial<Omit<TableColumn, "share">> & { share?(one: T): number };

/* Columns of a list of things: each says what it takes of one. */
export function columnMaker<T>(list: readonly T[]) {
  const rest = ({ share, ...more }: More<T>): Partial<TableColumn> => ({
    ...more,
    ...(share ? { share: (row) => share(list[row]!) } : {}),
  });

  return {
    word(id: string, title: string, text: (one: T) => string, more: More<T> = {}): TableColumn {
      const of = (row: number) => text(list[row]!);

      return { id, title, width: 80, text: of, value: of, ...rest(more) };
    },
    /* null sorts last and is shown as unknown. */
    number(
      id: string,
      title: string,
      hint: string,
      value: (one: T) => number | null,
      format: (value: number) => string,
      more: More<T> = {},
    ): TableColumn {
      const of = (row: number) => value(list[row]!) ?? NaN;
      const text = (row: number) => (Number.isNaN(of(row)) ? "–" : format(of(row)));

      return { id, title, hint, width: 80, isNumber: true, value: of, text, ...rest(more) };
    },
  };
}

/* Of columns that many have nothing for: those where somebody has something. */
export function withValues(columns: TableColumn[], mayBeMissing: string[], count: number): TableColumn[] {
  const has = ({ value }: TableColumn, row: number) => value(row) !== "" && !Number.isNaN(value(row));

  return columns.filter(
    (column) =>
      !mayBeMissing.includes(column.id) ||
      Array.from({ length: count }, (_, i) => i).some((row) => has(column, row)),
  );
}
