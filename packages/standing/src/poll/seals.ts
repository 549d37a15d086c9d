import type { Sealer } from "@svc/core";
import type { StandingPollRecord } from "@svc/db/standing/polls";
import { type PollState, parsePollState } from "./state.ts";

type Place = Pick<StandingPollRecord, "projectId" | "programId">;

function placeOf({ projectId, programId }: Place): string {
  return `${projectId}/standing_polls/${programId}`;
}

/** Seals where polls stand, for their row. */
export function sealPollState(sealer: Sealer, place: Place, state: PollState): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(state), "utf8"), placeOf(place));
}

/** Opens where polls stand. */
export function openPollState(sealer: Sealer, poll: StandingPollRecord): PollState {
  return parsePollState(sealer.open(poll.state, placeOf(poll)).toString("utf8"));
}
