import { type Delivery, TriggersService } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { Suspense } from "react";
import { useNow } from "../../clock.ts";
import type { ListPart } from "../../frame/list-filters.tsx";
import { type ListColumns, ListPage, listPage } from "../../frame/list-page.tsx";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { anyOption, Choice, SpanChoice } from "../../ui/fields/choice.tsx";
import { AttemptDots } from "../../ui/flow/attempt-dots.tsx";
import { laterPart } from "../../ui/later-part.tsx";
import { SidePanel } from "../../ui/layout/split.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { useIsNarrow, useIsPhone } from "../../ui/media.ts";
import { Empty, Skeleton } from "../../ui/notice/empty.tsx";
import { ClearFilters } from "../../ui/rows/list-states.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { attemptWord, deliveryWhy, deliveryWord, nextWords } from "../../words/deliveries.ts";
import type { DeliveryTab } from "../../words/delivery-filters.ts";
import { useTriggerSlugs } from "../events/trigger-choice.tsx";
import { DeliveredEvent } from "./delivered-event.tsx";
import { useSubscriptions } from "./endpoints.ts";
import { type DeliveriesSearch, deliveriesSearch } from "./filters.ts";
import { deliveriesRequest, resendFailed } from "./request.ts";

const DeliveryBody = laterPart(() => import("./delivery-body.tsx"));

const minuteMs = 60_000;

/** The outcomes of attempts (the series of deliveries) in words. */
const attemptOutcomes: Readonly<Record<string, string>> = {
  delivered: "delivered",
  retried: "failed and tried again",
  dead_letter: "failed for good",
};

/** The outcomes of attempts at the deliveries of each tab. */
const outcomesOfTab: Readonly<Record<DeliveryTab, readonly string[]>> = {
  failed: ["retried", "dead_letter"],
  pending: ["retried"],
  retrying: ["retried"],
  delivered: ["delivered"],
  dead_letter: ["dead_letter"],
};

/** Answers that the filter offers besides those in the list. */
const commonAnswers = ["400", "401", "403", "404", "410", "422", "429", "500", "502", "503", "504"];

const deliveries = listPage({
  title: "Deliveries",
  method: TriggersService.method.listDeliveries,
  rows: "deliveries",
  params: {
    ...deliveriesSearch,
    request: (search, now) => ({ ...deliveriesRequest(search, now), withDetails: true }),
  },
  everyMs: 5_000,
  tabs: [
    { words: "All", sets: { state: undefined } },
    { words: "Needs attention", sets: { state: "failed" } },
    { words: "Retrying", sets: { state: "retrying" } },
    { words: "Failed", sets: { state: "dead_letter" } },
    { words: "Delivered", sets: { state: "delivered" } },
  ],
  counts: { withDetails: false },
  filters: DeliveryFilters,
  histogram: {
    series: "deliveries",
    counts: "Delivery attempts",
    listTime: "creation",
    outcome: (outcome) => attemptOutcomes[outcome] ?? outcome,
    of: ({ state, subscription = "" }) => ({
      subscriptionId: subscription,
      ...(state !== undefined && { has: (outcome) => outcomesOfTab[state].includes(outcome) }),
    }),
    ignores: { event: "event", answer: "answer" },
  },
  actions: ResendFailed,
  columns: useDeliveryColumns,
  card: (delivery: Delivery) => (
    <>
      <DeliveredEvent event={delivery.event} eventId={delivery.eventId} />
      <Line apart>
        <State word={deliveryWord(delivery)} />
        <Dots delivery={delivery} />
        <Time at={delivery.createdAt} />
      </Line>
      <Why delivery={delivery} />
    </>
  ),
  rowId: ({ id }) => id,
  open: ({ id }, projectId) => ({ to: "/p/$projectId/deliveries/$deliveryId", params: { projectId, deliveryId: id } }),
  panel: DeliveryPanel,
  empty: NoDeliveries,
  noMatch: "No delivery matches",
});

/** Draws the deliveries of the project or of one subscription, the newest first. The open delivery has a panel. */
export default function DeliveriesPage() {
  return <ListPage of={deliveries} />;
}

/** Returns the columns of the list. A narrow list, or one next to an open panel, has fewer. */
function useDeliveryColumns({ search }: ListPart<Delivery, DeliveriesSearch>): ListColumns<Delivery> {
  const { endpointOf } = useSubscriptions();
  const isNarrow = useIsNarrow();
  const isBeside = search.open !== undefined;
  const event: ListColumns<Delivery> = [
    {
      id: "event",
      title: "Event",
      width: "minmax(160px, 3fr)",
      linked: (delivery) => <DeliveredEvent event={delivery.event} eventId={delivery.eventId} />,
    },
  ];
  const to: ListColumns<Delivery> = [
    {
      id: "to",
      title: "Endpoint",
      width: "minmax(96px, 1fr)",
      cell: ({ subscriptionId }) => <span title={endpointOf(subscriptionId)}>{endpointOf(subscriptionId)}</span>,
    },
  ];
  const state: ListColumns<Delivery> = [
    { id: "state", title: "State", width: "148px", cell: (delivery) => <State word={deliveryWord(delivery)} /> },
    { id: "answer", title: "Answer", width: "96px", cell: (delivery) => <Answer delivery={delivery} /> },
  ];
  const tries: ListColumns<Delivery> = [
    { id: "tries", title: "Tries", width: "112px", cell: (delivery) => <Dots delivery={delivery} /> },
  ];
  const next: ListColumns<Delivery> = [
    { id: "next", title: "Next", width: "128px", cell: (delivery) => <Next delivery={delivery} /> },
  ];
  const created: ListColumns<Delivery> = [
    { id: "created", title: "Created", width: "112px", cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
  if (isBeside) return [...event, ...state];
  return [...event, ...to, ...state, ...tries, ...(isNarrow ? [] : next), ...created];
}

/** Draws the answer to the latest attempt of a delivery. */
function Answer({
  delivery: { attempts, state, lastError, lastStatusCode },
}: {
  delivery: Pick<Delivery, "attempts" | "state" | "lastError" | "lastStatusCode">;
}) {
  if (attempts === 0) return <span>not sent yet</span>;
  return <State word={attemptWord(state === "delivered" ? "" : lastError, lastStatusCode)} />;
}

function Dots({ delivery: { attemptMarks, state } }: { delivery: Delivery }) {
  return <AttemptDots attempts={attemptMarks.map(({ error }) => error === "")} isPending={state === "pending"} />;
}

/** Draws when the next attempt of a delivery starts. */
function Next({ delivery }: { delivery: Delivery }) {
  return <span>{nextWords(delivery, useNow())}</span>;
}

/** Draws in words why a delivery is in its state. */
function Why({ delivery }: { delivery: Delivery }) {
  return <span>{deliveryWhy(delivery, useNow())}</span>;
}

/**
 * Draws the link to the dialog that counts what failed in the list, and sends it again. The dialog has no filter by answer. So with this
 * filter there is no link, because the dialog would send more than the list shows.
 */
function ResendFailed({ projectId, search }: ListPart<Delivery, DeliveriesSearch>) {
  const now = useNow(minuteMs);
  if (search.answer !== undefined) return null;
  return (
    <Link
      to="/p/$projectId/replays"
      params={{ projectId }}
      search={resendFailed(search, now)}
      className={buttonClass()}
    >
      Resend failed…
    </Link>
  );
}

function DeliveryPanel({
  projectId,
  rows,
  id,
  onClose,
}: ListPart<Delivery, DeliveriesSearch> & { id: string; onClose: () => void }) {
  const isPhone = useIsPhone();
  const delivery = rows.find((row) => row.id === id);
  if (delivery === undefined || isPhone) return null;
  const link = (
    <Link
      to="/p/$projectId/deliveries/$deliveryId"
      params={{ projectId, deliveryId: delivery.id }}
      className={buttonClass("quiet")}
    >
      Open page
    </Link>
  );
  return (
    <SidePanel title={delivery.id} link={link} onClose={onClose}>
      <Suspense fallback={<Skeleton rows={8} />}>
        <DeliveryBody projectId={projectId} delivery={delivery} />
      </Suspense>
    </SidePanel>
  );
}

function NoDeliveries() {
  const { subscriptions } = useSubscriptions();
  if (subscriptions?.length === 0)
    return (
      <Empty icon="subscription" title="No subscriptions yet">
        <p>A delivery sends one event to one endpoint. Create a subscription first.</p>
      </Empty>
    );
  return (
    <Empty icon="delivery" title="No deliveries yet">
      <p>Nothing was sent yet. The first event that matches a subscription is sent to its endpoint.</p>
    </Empty>
  );
}

/** Draws the filters of the list of deliveries. */
function DeliveryFilters({ search, change, rows }: ListPart<Delivery, DeliveriesSearch>) {
  const { subscriptions = [] } = useSubscriptions();
  const endpoints = subscriptions.map(({ id, endpointUrl }) => ({
    value: id,
    words: endpointUrl.replace(/^https?:\/\//, ""),
    note: id,
  }));
  const events = useTriggerSlugs("", { isEvery: true });
  const seen = rows.flatMap(({ lastError }) => /^http_(\d{3})/.exec(lastError)?.[1] ?? []);
  const { event = "", answer = "" } = search;
  return (
    <>
      <Choice
        label="Endpoint"
        value={search.subscription ?? ""}
        options={[anyOption, ...endpoints]}
        onChange={(subscription) => change({ subscription: subscription || undefined, open: undefined })}
      />
      <Choice
        label="Event"
        value={event}
        options={optionsOf([...events, event])}
        onChange={(to) => change({ event: to || undefined })}
      />
      <Choice
        label="Answer"
        value={answer}
        options={optionsOf([...commonAnswers, ...seen, answer])}
        onChange={(to) => change({ answer: to || undefined })}
      />
      <SpanChoice label="Created" span={search} onChange={change} />
      {(deliveriesSearch.isFiltered(search) || search.subscription !== undefined) && (
        <ClearFilters onPress={() => change({ ...deliveriesSearch.noFilters, subscription: undefined })} />
      )}
    </>
  );
}

function optionsOf(values: readonly string[]) {
  const named = [...new Set(values)].filter((value) => value !== "").toSorted();
  return [anyOption, ...named.map((value) => ({ value, words: value }))];
}
