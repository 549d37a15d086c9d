import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { useState } from "react";
import { useRows } from "../calls/rows.ts";
import type { ReplaysSearch } from "../pages/replays/filters.ts";
import { ReplayItem } from "../pages/replays/replay-item.tsx";
import { StartDialog } from "../pages/replays/start.tsx";
import { Button } from "../ui/buttons/button.tsx";
import { Section } from "../ui/layout/section.tsx";
import { FaultNotice } from "../ui/notice/fault.tsx";
import { LoadMore } from "../ui/rows/list-states.tsx";
import { useCanChange } from "./customer.ts";

const lookMs = 3_000;

/** Draws the replays to one endpoint, and the button that sends the events of a time range again. */
export function EndpointReplays({ endpoint: { id, active } }: { endpoint: Subscription }) {
  const canChange = useCanChange();
  const [asked, setAsked] = useState<ReplaysSearch>();
  const list = useRows(TriggersService.method.listReplays, {}, ({ replays }) => replays, { refetchMs: lookMs });
  const own = list.rows.filter(({ subscriptionId }) => subscriptionId === id);
  return (
    <Section
      title="Replays"
      actions={
        canChange && (
          <Button
            icon="replay"
            why={active ? undefined : "Nothing is sent to an inactive endpoint."}
            onPress={() => setAsked({ subscription: id })}
          >
            Replay a time range
          </Button>
        )
      }
    >
      {list.state === "failed" && <FaultNotice error={list.error} onRetry={list.reload} />}
      {own.length === 0 && (
        <p>A replay sends the events of a time range again, for example after your server failed.</p>
      )}
      {own.map((replay) => (
        <ReplayItem key={replay.id} replay={replay} canChange={canChange} />
      ))}
      <LoadMore list={list} />
      {asked !== undefined && (
        <StartDialog
          search={asked}
          isToOne
          onChange={(to) => setAsked({ ...asked, ...to })}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Section>
  );
}
