import { replays } from "../schema/replays.ts";
import type { Row } from "../sql/codec.ts";
import { selectList } from "../sql/select-list.ts";

/** A paced replay as its row holds it. */
export type ReplayRecord = Readonly<Row<typeof replays>>;

/** All columns of a replay; `r` is its row. */
export const replayColumns = selectList(
  replays,
  [
    "id",
    "projectId",
    "state",
    "reason",
    "waitsForId",
    "toolkitSlug",
    "triggerSlug",
    "subscriptionId",
    "onlyUndelivered",
    "since",
    "until",
    "perSecond",
    "total",
    "uncountedFromId",
    "queued",
    "positionEventId",
    "positionSubscriptionId",
    "pacedAt",
    "createdAt",
    "updatedAt",
    "endedAt",
  ],
  "r",
);

/** No id is as high. */
export const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
