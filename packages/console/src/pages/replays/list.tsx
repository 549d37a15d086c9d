import { type Replay, ReplayState, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Progress } from "../../ui/notice/progress.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { replayReasonWords, replayWord } from "../../words/subscriptions.ts";
import { useSubscriptions } from "../deliveries/endpoints.ts";
import type { ReplaysSearch } from "./filters.ts";
import { StartDialog } from "./start.tsx";

const route = getRouteApi("/p/$projectId/replays");
const lookMs = 2_000;

/** Draws the replays of the project with their progress, and the button that starts one. */
export default function ReplaysPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRows(TriggersService.method.listReplays, {}, ({ replays }) => replays, { refetchMs: lookMs });
  const change = (to: ReplaysSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  return (
    <Page
      title="Replays"
      isCovered={search.start === "yes"}
      actions={
        <Button kind="primary" icon="replay" onPress={() => change({ start: "yes" })}>
          Replay events
        </Button>
      }
    >
      <ListStates
        list={list}
        empty={
          <Empty icon="replay" title="No replay yet">
            <p>
              A replay delivers a range of events again, at the pace that the endpoints take: the way back after an
              outage.
            </p>
          </Empty>
        }
      >
        <Stack>
          {list.rows.map((replay: Replay) => (
            <ReplayItem key={replay.id} replay={replay} />
          ))}
          <LoadMore list={list} />
        </Stack>
      </ListStates>
      {search.start === "yes" && (
        <StartDialog search={search} onChange={change} onClose={() => void navigate({ search: {}, replace: true })} />
      )}
    </Page>
  );
}

/** Draws one replay: its events, its progress, and its buttons. */
function ReplayItem({ replay }: { replay: Replay }) {
  const { endpointOf } = useSubscriptions();
  const {
    state,
    reason,
    waitsFor,
    queued,
    total,
    totalComplete,
    since,
    until,
    subscriptionId,
    toolkitSlug,
    triggerSlug,
    perSecond,
  } = replay;
  const of = `${queued.toLocaleString("en")} of ${total.toLocaleString("en")}${totalComplete ? "" : " and more"}`;
  const isOpen = state === ReplayState.RUNNING || state === ReplayState.PAUSED;
  return (
    <Section
      boxed
      title={`${of} queued`}
      actions={
        <Line>
          <State word={replayWord(state)} />
          {isOpen && <ReplayActions replay={replay} />}
        </Line>
      }
    >
      <Progress label={`${of} queued`} value={total === 0 ? (isOpen ? 0 : 1) : queued / total} />
      {reason !== "" && <p>{replayReasonWords(reason, waitsFor === "" ? "" : endpointOf(waitsFor))}</p>}
      <Facts
        facts={[
          ["Events", triggerSlug || toolkitSlug || "of every toolkit"],
          [
            "Received",
            <span key="range">
              <Time at={since} /> to <Time at={until} />
            </span>,
          ],
          ["To", subscriptionId === "" ? "every subscription that matches" : endpointOf(subscriptionId)],
          ["Pace", `${perSecond} a second at most`],
        ]}
      />
    </Section>
  );
}

function ReplayActions({ replay: { id, state } }: { replay: Replay }) {
  const queries = useQueryClient();
  const options = { onSuccess: () => queries.invalidateQueries() };
  const update = useWrite(TriggersService.method.updateReplay, options);
  const cancel = useWrite(TriggersService.method.cancelReplay, options);
  const isPaused = state === ReplayState.PAUSED;
  return (
    <>
      <Button
        icon={isPaused ? "play" : "pause"}
        busy={update.isSending ? "Sending" : undefined}
        onPress={() => update.send({ id, paused: !isPaused })}
      >
        {isPaused ? "Go on" : "Pause"}
      </Button>
      <Button kind="danger" busy={cancel.isSending ? "Sending" : undefined} onPress={() => cancel.send({ id })}>
        Cancel
      </Button>
      <FaultNotice error={update.error ?? cancel.error} />
    </>
  );
}
