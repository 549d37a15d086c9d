import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { type ReplayCount, TriggersService } from "@svc/gen/triggers";
import { keepPreviousData, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNow } from "../../clock.ts";
import { announce } from "../../ui/announce.ts";
import { Button } from "../../ui/button.tsx";
import { Choice } from "../../ui/choice.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { FaultNotice } from "../../ui/fault.tsx";
import { CheckField } from "../../ui/field.tsx";
import { Line } from "../../ui/stack.tsx";
import { Time } from "../../ui/time.tsx";
import { rangeNames, ranges, rangeWords } from "../../words/ranges.ts";
import { useSubscriptions } from "../deliveries/endpoints.ts";
import { type ReplaysSearch, replayRequest } from "./filters.ts";

/** Starts a replay: of what, to whom, and how many deliveries that makes, before the button that does it. */
export function StartDialog({
  search,
  onChange,
  onClose,
}: {
  search: ReplaysSearch;
  onChange: (change: ReplaysSearch) => void;
  onClose: () => void;
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
  const start = useMutation(TriggersService.method.startReplay, {
    onSuccess: async () => {
      announce("The replay has begun.");
      onClose();
      await queries.invalidateQueries();
    },
  });
  const total = count.data?.total ?? 0;
  const why = count.isFetching
    ? "It is being counted."
    : total === 0
      ? "Nothing matches: there is nothing to deliver again."
      : undefined;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Replay events"
      actions={
        <>
          <Button onPress={onClose}>Leave it</Button>
          <Button
            kind="primary"
            icon="replay"
            why={why}
            busy={start.isPending ? "Sending" : undefined}
            onPress={() => start.mutate(request)}
          >
            {total === 1 ? "Replay 1 delivery" : `Replay ${total.toLocaleString("en")} deliveries`}
          </Button>
        </>
      }
    >
      <ReplayFilters search={search} onChange={onChange} now={opened} />
      <CheckField
        label="Leave out what was delivered already"
        checked={search.only === "undelivered"}
        onChange={(on) => onChange({ only: on ? "undelivered" : undefined })}
      />
      <Counts counts={count.data?.counts ?? []} since={request.since} />
      <FaultNotice error={count.error ?? start.error} />
    </Dialog>
  );
}

function ReplayFilters({
  search,
  onChange,
  now,
}: {
  search: ReplaysSearch;
  onChange: (change: ReplaysSearch) => void;
  now: number;
}) {
  const { subscriptions = [] } = useSubscriptions();
  const ofSubscriptions = subscriptions.map(({ id, endpointUrl }) => ({
    value: id,
    words: endpointUrl.replace(/^https?:\/\//, ""),
  }));
  const since = (range: string) => {
    const name = rangeNames.find((known) => known === range);
    onChange({ since: name === undefined ? undefined : new Date(now - ranges[name]).toISOString() });
  };
  const chosen = rangeNames.find((name) => search.since === new Date(now - ranges[name]).toISOString());
  const own =
    search.since !== undefined && chosen === undefined ? [{ value: "own", words: "since the time below" }] : [];
  return (
    <Line>
      <Choice
        label="Received"
        value={chosen ?? (search.since === undefined ? "24h" : "own")}
        options={[...own, ...rangeNames.map((name) => ({ value: name, words: rangeWords(name) }))]}
        onChange={since}
      />
      <Choice
        label="To"
        value={search.subscription ?? ""}
        options={[{ value: "", words: "every subscription" }, ...ofSubscriptions]}
        onChange={(subscription) => onChange({ subscription: subscription || undefined })}
      />
    </Line>
  );
}

function Counts({ counts, since }: { counts: readonly ReplayCount[]; since: Timestamp }) {
  const { endpointOf } = useSubscriptions();
  return (
    <Facts
      facts={[
        ["Since", <Time key="since" at={since} />],
        ...counts.map(({ subscriptionId, count }) => [endpointOf(subscriptionId), count.toLocaleString("en")] as const),
      ]}
    />
  );
}
