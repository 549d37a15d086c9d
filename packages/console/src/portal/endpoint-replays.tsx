import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { useContext, useState } from "react";
import { useRows } from "../calls/rows.ts";
import type { ReplaysSearch } from "../pages/replays/filters.ts";
import { ReplayItem } from "../pages/replays/replay-item.tsx";
import { StartDialog } from "../pages/replays/start.tsx";
import { Button } from "../ui/buttons/button.tsx";
import { SiteName } from "../ui/layout/page.tsx";
import { Section } from "../ui/layout/section.tsx";
import { FaultNotice } from "../ui/notice/fault.tsx";
import { LoadMore } from "../ui/rows/list-states.tsx";
import { useCanChange } from "./customer.ts";
import { typeName } from "./words.ts";

const lookMs = 3_000;

/** Draws the replays to one endpoint, and the button that sends the events of a time range again. */
export function EndpointReplays({ endpoint: { id, active } }: { endpoint: Subscription }) {
  const canChange = useCanChange();
  const project = useContext(SiteName);
  const [asked, setAsked] = useState<ReplaysSearch>();
  const list = useRows(TriggersService.method.listReplays, {}, ({ replays }) => replays, { refetchMs: lookMs });
  const own = list.rows.filter(({ subscriptionId }) => subscriptionId === id);
  return (
    <Section
      title="Resent"
      actions={
        canChange && (
          <Button
            icon="replay"
            why={active ? undefined : "Nothing is sent while the endpoint is paused or off."}
            onPress={() => setAsked({ subscription: id })}
          >
            Send a time range again
          </Button>
        )
      }
    >
      {list.state === "failed" && <FaultNotice error={list.error} onRetry={list.reload} />}
      {own.length === 0 && <p>You can send the events of a time range again, for example after your server failed.</p>}
      {own.map((replay) => (
        <ReplayItem
          key={replay.id}
          replay={replay}
          canChange={canChange && replay.origin === "portal"}
          events={replay.triggerSlug === "" ? "all event types" : typeName(replay.triggerSlug)}
          starter={replay.origin === "portal" ? "" : project}
        />
      ))}
      <LoadMore list={list} />
      {asked !== undefined && (
        <StartDialog
          search={asked}
          isForCustomer
          onChange={(to) => setAsked({ ...asked, ...to })}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Section>
  );
}
