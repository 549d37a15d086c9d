import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { isoTime } from "@svc/core/time";
import { type ReplayCount, TriggersService } from "@svc/gen/triggers";
import { keepPreviousData, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { useNow } from "../../clock.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Choice } from "../../ui/fields/choice.tsx";
import { CheckField } from "../../ui/fields/field.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";
import { pageWords } from "../../words/page-words.ts";
import { rangeNames, ranges, rangeWords } from "../../words/spans.ts";
import { useSubscriptions } from "../deliveries/endpoints.ts";
import { everythingSince, type ReplayRange, type ReplaysSearch, replayRequest } from "./filters.ts";

/**
 * Draws the dialog that starts a replay. Above the button that starts it, the dialog shows its range, its receivers, and the number of
 * deliveries.
 */
export function StartDialog({
  search,
  onChange,
  onClose,
  isForCustomer = false,
}: {
  search: ReplaysSearch;
  onChange: (change: ReplaysSearch) => void;
  onClose: () => void;
  /**
   * True if the user is a customer in the portal, and the dialog opened for one subscription, whose id is in `search`. The user then cannot
   * choose other receivers.
   */
  isForCustomer?: boolean;
}) {
  const now = useNow(60_000);
  const [opened] = useState(now);
  const request = replayRequest(search, opened);
  const queries = useQueryClient();
  const count = useQuery(
    TriggersService.method.startReplay,
    { ...request, dryRun: true },
    { placeholderData: keepPreviousData },
  );
  const start = useWrite(TriggersService.method.startReplay, {
    onSuccess: async () => {
      announce(isForCustomer ? "The events are being resent." : "Resending has started.");
      onClose();
      await queries.invalidateQueries();
    },
  });
  const { total = 0, more = false } = count.data ?? {};
  const words = total === 1 && !more ? "1 delivery" : `${total.toLocaleString("en")}${more ? "+" : ""} deliveries`;
  const why = count.isFetching ? "Counting…" : total === 0 ? "No event matches." : undefined;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Resend events"
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            kind="primary"
            icon="replay"
            why={why}
            busy={start.isSending ? "Sending" : undefined}
            onPress={() => start.send(request)}
          >
            {`Resend ${words}`}
          </Button>
        </>
      }
    >
      <ReplayFilters search={search} onChange={onChange} now={opened} isToOne={isForCustomer} />
      {search.only !== "failed" && (
        <CheckField
          label="Skip events that were already delivered"
          checked={search.only === "undelivered"}
          onChange={(on) => onChange({ only: on ? "undelivered" : undefined })}
        />
      )}
      <Only search={search} onChange={onChange} />
      <Counts counts={count.data?.counts ?? []} range={request} />
      {(count.data?.warnings ?? []).map((warning) => (
        <Notice key={warning} tone="warn" title="Some deliveries of this time are still waiting.">
          <p>{pageWords(warning)}</p>
        </Notice>
      ))}
      <FaultNotice error={count.error ?? start.error} />
    </Dialog>
  );
}

function ReplayFilters({
  search,
  onChange,
  now,
  isToOne,
}: {
  search: ReplaysSearch;
  onChange: (change: ReplaysSearch) => void;
  now: number;
  isToOne: boolean;
}) {
  const { subscriptions = [] } = useSubscriptions();
  const ofSubscriptions = subscriptions.map(({ id, endpointUrl }) => ({
    value: id,
    words: endpointUrl.replace(/^https?:\/\//, ""),
  }));
  const since = (range: string) => {
    const name = rangeNames.find((known) => known === range);
    if (range === "all") onChange({ since: everythingSince, until: undefined });
    else if (name !== undefined) onChange({ since: isoTime(now - ranges[name]), until: undefined });
  };
  const chosen = rangeNames.find((name) => search.since === isoTime(now - ranges[name]));
  const isAll = search.since === everythingSince;
  const own =
    search.since !== undefined && chosen === undefined && !isAll ? [{ value: "own", words: "Custom range" }] : [];
  return (
    <Line>
      <Choice
        label="Received"
        value={chosen ?? (search.since === undefined ? "24h" : isAll ? "all" : "own")}
        options={[
          ...own,
          ...rangeNames.map((name) => ({ value: name, words: rangeWords(name) })),
          { value: "all", words: "All stored events" },
        ]}
        onChange={since}
      />
      {!isToOne && (
        <Choice
          label="To"
          value={search.subscription ?? ""}
          options={[{ value: "", words: "all subscriptions" }, ...ofSubscriptions]}
          onChange={(subscription) => onChange({ subscription: subscription || undefined })}
        />
      )}
    </Line>
  );
}

/** Draws the limits of the replay that its address has, such as an app, each with a button that removes it. */
function Only({ search, onChange }: { search: ReplaysSearch; onChange: (change: ReplaysSearch) => void }) {
  const { toolkit, trigger, only } = search;
  const what = trigger ?? toolkit;
  if (what === undefined && only !== "failed") return null;
  return (
    <Line>
      {only === "failed" && (
        <Button icon="cross" onPress={() => onChange({ only: undefined })}>
          Only deliveries that failed
        </Button>
      )}
      {what !== undefined && (
        <Button icon="cross" onPress={() => onChange({ toolkit: undefined, trigger: undefined })}>
          Only {what}
        </Button>
      )}
    </Line>
  );
}

function Counts({ counts, range: { since, until } }: { counts: readonly ReplayCount[]; range: ReplayRange }) {
  const { endpointOf } = useSubscriptions();
  return (
    <Facts
      facts={[
        ["Since", timestampMs(since) === 0 ? "ever" : <Time key="since" at={since} />],
        ["Until", until === undefined ? "now" : <Time key="until" at={until} />],
        ...counts.map(({ subscriptionId, count }) => [endpointOf(subscriptionId), count.toLocaleString("en")] as const),
      ]}
    />
  );
}
