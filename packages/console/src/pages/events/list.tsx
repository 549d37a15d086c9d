import { type Event, type EventDeliveries, TriggersService } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { Suspense } from "react";
import { useNow } from "../../clock.ts";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { anyOf } from "../../ui/fields/choice.tsx";
import { Icon } from "../../ui/icon.tsx";
import { laterPart } from "../../ui/later-part.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { deliveryCountWords } from "../../words/deliveries.ts";
import { DeliveredEvent } from "../deliveries/delivered-event.tsx";
import { beyondReplays, type EventsSearch, eventsSearch, replayOfThese } from "./filters.ts";
import styles from "./list.module.css";
import { TriggerChoice, useEventToolkits } from "./trigger-choice.tsx";

const EventPanel = laterPart(() => import("./event-panel.tsx"));

const events = listPage({
  title: "Events",
  method: TriggersService.method.listEvents,
  rows: "events",
  params: eventsSearch,
  isLive: ({ live }) => live !== "off",
  filters: {
    toolkit: { choice: "App", options: useToolkitOptions, also: { trigger: undefined } },
    trigger: ({ search: { toolkit, trigger }, change }) =>
      toolkit !== undefined && (
        <TriggerChoice toolkit={toolkit} trigger={trigger} onChange={(to) => change({ trigger: to })} />
      ),
    entity: { typed: "User", short: true },
    text: { typed: "Search payload", placeholder: "Exact text in the payload" },
    range: { span: "Received" },
    live: { switch: "Live", off: "off" },
  },
  filterAction: ReplayThese,
  histogram: {
    series: "events",
    counts: "Events",
    of: ({ toolkit }) => (toolkit === undefined ? {} : { has: (slug) => slug === toolkit }),
    ignores: { trigger: "event", entity: "user", text: "payload" },
  },
  // While the panel of an event is open, the list has only the columns that fit next to it. The panel shows the other values.
  columns: ({ search: { open } }) => {
    const isBeside = open !== undefined;
    return [
      {
        id: "trigger",
        title: "Event",
        width: isBeside ? "minmax(96px, 1fr)" : "minmax(200px, 3fr)",
        linked: (event) => <ShortEvent event={event} />,
      },
      ...(isBeside
        ? []
        : [{ id: "entity", title: "User", width: "minmax(72px, 1fr)", cell: ({ entityId }: Event) => entityId }]),
      {
        id: "deliveries",
        title: "Deliveries",
        width: isBeside ? "224px" : "minmax(224px, 1fr)",
        cell: ({ deliveries }) => <DeliveryStates of={deliveries} />,
      },
      {
        id: "received",
        title: "Received",
        width: isBeside ? "104px" : "136px",
        cell: ({ receivedAt }) => <Time at={receivedAt} />,
      },
    ];
  },
  card: (event) => (
    <>
      <ShortEvent event={event} />
      <Line apart>
        <Time at={event.receivedAt} />
        <span>{event.entityId}</span>
        <DeliveryStates of={event.deliveries} />
      </Line>
    </>
  ),
  rowId: ({ id }) => id,
  open: ({ id }, projectId) => ({ to: "/p/$projectId/events/$eventId", params: { projectId, eventId: id } }),
  panel: (part) => (
    <Suspense>
      <EventPanel {...part} />
    </Suspense>
  ),
  empty: NoEvents,
  noMatch: "No event matches",
});

/** Draws the events of the project, newest first. If an event is open, its panel is next to the list. */
export default function EventsPage() {
  return <ListPage of={events} />;
}

function ShortEvent({ event: { id, triggerSlug, glance } }: { event: Event }) {
  return <DeliveredEvent event={{ triggerSlug, text: glance }} eventId={id} />;
}

function useToolkitOptions() {
  return anyOf(useEventToolkits());
}

/** Draws a link to the page that replays the events of the current filters. That page counts the events before it sends any. */
function ReplayThese({ projectId, search }: { projectId: string; search: EventsSearch }) {
  const now = useNow(60_000);
  if (!eventsSearch.isFiltered(search)) return null;
  const beyond = beyondReplays(search);
  if (beyond !== "") {
    return (
      <Button icon="replay" why={`Resending can't filter by ${beyond}, so it would deliver more than this list shows.`}>
        Resend these
      </Button>
    );
  }
  return (
    <Link
      to="/p/$projectId/replays"
      params={{ projectId }}
      search={replayOfThese(search, now)}
      className={buttonClass()}
    >
      <Icon name="replay" />
      Resend these
    </Link>
  );
}

/** Draws the number of an event's deliveries in each state. States that need action come first. */
function DeliveryStates({ of }: { of: EventDeliveries | undefined }) {
  if (of === undefined) return null;
  const words = deliveryCountWords(of);
  if (words.length === 0) return <span className={styles["quiet"]}>not delivered</span>;
  return (
    <span className={styles["states"]}>
      {words.map((word) => (
        <State key={word.icon} word={word} />
      ))}
    </span>
  );
}

function NoEvents() {
  return (
    <Empty icon="event" title="No events yet">
      <p>An event is a webhook that an app sent. Send a sample, signed as the app signs it:</p>
      <CodeBlock text="npx svc trigger calendar" />
      <p>It appears here within two seconds.</p>
    </Empty>
  );
}
