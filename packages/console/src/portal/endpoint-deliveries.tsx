import { type Delivery, type Subscription, TriggersService } from "@svc/gen/triggers";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useRows } from "../calls/rows.ts";
import { useNow } from "../clock.ts";
import { Attempts } from "../pages/deliveries/attempts.tsx";
import { type DeliveriesSearch, deliveriesSearch } from "../pages/deliveries/filters.ts";
import { deliveriesRequest } from "../pages/deliveries/request.ts";
import { anyOption, Choice, SpanChoice } from "../ui/fields/choice.tsx";
import { Disclosure } from "../ui/layout/disclosure.tsx";
import { Section } from "../ui/layout/section.tsx";
import { Line, Stack } from "../ui/layout/stack.tsx";
import { NoMatch } from "../ui/notice/empty.tsx";
import { ListStates, LoadMore } from "../ui/rows/list-states.tsx";
import { State } from "../ui/values/state.tsx";
import { Time } from "../ui/values/time.tsx";
import { deliveryFilterOptions, deliveryWhy, deliveryWord } from "../words/deliveries.ts";
import { deliveryFilters } from "../words/delivery-filters.ts";
import { deliveredEvent } from "./words.ts";

const lookMs = 3_000;
const minuteMs = 60_000;
const pageSize = 20;

/** Draws the deliveries to one endpoint, newest first. Each opens to show its attempts. */
export function EndpointDeliveries({ projectId, endpoint: { id } }: { projectId: string; endpoint: Subscription }) {
  const search = deliveriesSearch.read(useSearch({ strict: false }));
  const navigate = useNavigate();
  const change = (to: DeliveriesSearch) =>
    void navigate({ to: ".", search: (old: object) => ({ ...old, ...to }), replace: true });
  const request = deliveriesRequest({ ...search, subscription: id }, useNow(minuteMs));
  const list = useRows(
    TriggersService.method.listDeliveries,
    { ...request, pageSize, withTriggers: true },
    ({ deliveries }) => deliveries,
    { refetchMs: lookMs },
  );
  return (
    <Section title="Deliveries">
      <Line>
        <Choice
          label="State"
          value={search.state ?? ""}
          options={[anyOption, ...deliveryFilterOptions]}
          onChange={(value) => change({ state: deliveryFilters.find((state) => state === value) })}
        />
        <SpanChoice label="Created" span={search} onChange={change} />
      </Line>
      <ListStates
        list={list}
        isFiltered={deliveriesSearch.isFiltered(search)}
        skeletonRows={3}
        empty={<p>Nothing was sent to this endpoint yet.</p>}
        noMatch={<NoMatch title="No delivery matches" onClear={() => change(deliveriesSearch.noFilters)} />}
      >
        <Stack tight>
          {list.rows.map((delivery) => (
            <DeliveryLine key={delivery.id} projectId={projectId} delivery={delivery} />
          ))}
          <LoadMore list={list} />
        </Stack>
      </ListStates>
    </Section>
  );
}

function DeliveryLine({ projectId, delivery }: { projectId: string; delivery: Delivery }) {
  const { id, state, attempts, createdAt } = delivery;
  const why = deliveryWhy(delivery, useNow());
  return (
    <Disclosure
      summary={
        <>
          <State word={deliveryWord(delivery)} />
          <b>{deliveredEvent(delivery)}</b>
          <Time at={createdAt} />
          <span>{attempts === 1 ? "1 attempt" : `${attempts} attempts`}</span>
          {why !== "" && <span>{why}</span>}
        </>
      }
    >
      <Attempts deliveryId={id} isPending={state === "pending"} />
      <p>
        <Link to="/p/$projectId/deliveries/$deliveryId" params={{ projectId, deliveryId: id }}>
          Open the event to resend it
        </Link>
      </p>
    </Disclosure>
  );
}
