/* All panels, in the order in which they stand on the page. */

import type { Panel } from "../panel";
import { costPanel, energyPanel, shipPanel } from "./facts";
import { functionsPanel } from "./functions";
import { itemsPanel } from "./items";
import { processesPanel } from "./processes";
import { progressPanel } from "./progress";
import { resourcesPanel } from "./resources";
import { spansPanel } from "./spans";
import { stepsPanel } from "./steps";
import { streamPanel } from "./stream";
import { threadsPanel } from "./threads";
import { timelinePanel } from "./timeline";
import { workersPanel } from "./workers";

export const PANELS: Panel[] = [
  streamPanel,
  progressPanel,
  resourcesPanel,
  itemsPanel,
  stepsPanel,
  timelinePanel,
  spansPanel,
  functionsPanel,
  workersPanel,
  threadsPanel,
  processesPanel,
  energyPanel,
  costPanel,
  shipPanel,
];
