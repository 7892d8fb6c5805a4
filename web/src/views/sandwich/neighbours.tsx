/* Direct callers or callees of a function, in numbers. */

import { useMemo, useState } from "preact/hooks";
import type { PageData } from "../../data/types";
import type { Neighbour } from "../../model/sums";
import { formatCount, formatShare, formatTime } from "../../ui/format";
import { type Order, type TableColumn, VirtualTable } from "../../ui/table";

export interface NeighboursProps {
  data: PageData;
  title: string;
  list: readonly Neighbour[]; // frame -1: nobody, it is a root
  whole: number; // what shares are taken of
  frame: number; // the function between them
  nameOf(frame: number): string;
  onChoose(frame: number): void;
}

function columnsOf(props: NeighboursProps): TableColumn[] {
  const { list, whole, frame, nameOf } = props;
  const name = (row: number) => {
    const other = list[row]!.frame;
    return other < 0 ? "(nobody: a root)" : nameOf(other) + (other === frame ? " (itself)" : "");
  };
  const share = (row: number) => list[row]!.total / whole;
  return [
    { id: "name", title: props.title, width: 120, isWide: true, text: name, value: name },
    {
      id: "calls",
      title: "Calls",
      isNumber: true,
      width: 76,
      text: (row) => formatCount(list[row]!.count),
      value: (row) => list[row]!.count,
    },
    {
      id: "total_ns",
      title: "Time",
      hint: "Of these calls, what they call included; calls within themselves count once",
      isNumber: true,
      width: 76,
      text: (row) => formatTime(list[row]!.total),
      value: (row) => list[row]!.total,
    },
    {
      id: "share",
      title: "Share",
      isNumber: true,
      width: 76,
      text: (row) => formatShare(share(row)),
      value: share,
      share,
    },
  ];
}

export function Neighbours(props: NeighboursProps) {
  const [order, setOrder] = useState<Order>({ column: "total_ns", isDescending: true });
  const rows = useMemo(() => props.list.map((_, row) => row), [props.list]);
  const columns = useMemo(() => columnsOf(props), [props.list, props.whole, props.frame]);

  return (
    <VirtualTable
      name={props.title.toLowerCase().replace(" ", "-")}
      title={props.data.directory.title}
      label={props.title}
      columns={columns}
      rows={rows}
      order={order}
      onOrder={setOrder}
      onChoose={(row) => props.list[row]!.frame >= 0 && props.onChoose(props.list[row]!.frame)}
      empty={props.title === "Calls" ? "It calls nothing that was recorded." : "Nobody calls it."}
    />
  );
}
