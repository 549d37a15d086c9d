import { type Ask, AskState, type SvcClient } from "@svc/sdk";
import { CommandError } from "../command/error.ts";

/** Finds an ask by its id: among those pending first, then among all. Rejects with CommandError when there is none. */
export async function findAsk({ jobs }: SvcClient, requestId: string): Promise<Ask> {
  for (const state of [AskState.PENDING, AskState.UNSPECIFIED]) {
    let pageToken = "";
    do {
      const page = await jobs.listAsks({ state, pageSize: 500, pageToken });
      const found = page.asks.find((ask) => ask.requestId === requestId);
      if (found !== undefined) return found;
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }
  throw new CommandError(`there is no ask ${requestId}; \`svc asks\` lists those there are`);
}
