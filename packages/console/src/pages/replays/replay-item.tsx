import { type Replay, ReplayState, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Progress } from "../../ui/notice/progress.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { replayReasonWords, replayWord } from "../../words/subscriptions.ts";
import { useSubscriptions } from "../deliveries/endpoints.ts";

/**
 * Draws one replay with its progress and its buttons. `canChange`: false to leave out the buttons. `starter`: who started the replay; if
 * empty, the line "Started by" is left out.
 */
export function ReplayItem({
  replay,
  canChange = true,
  events = replay.triggerSlug || replay.toolkitSlug || "of all apps",
  starter = replay.origin === "portal" ? "the customer" : "",
}: {
  replay: Replay;
  canChange?: boolean;
  events?: string;
  starter?: string;
}) {
  const { endpointOf } = useSubscriptions();
  const { state, reason, waitsFor, queued, total, totalComplete, since, until, subscriptionId, perSecond } = replay;
  const of = `${queued.toLocaleString("en")} of ${total.toLocaleString("en")}${totalComplete ? "" : " and more"}`;
  const isOpen = state === ReplayState.RUNNING || state === ReplayState.PAUSED;
  return (
    <Section
      boxed
      title={`${of} queued`}
      actions={
        <Line>
          <State word={replayWord(state)} />
          {/* A replay without an end keeps the events of a paused subscription. It changes only with that subscription. */}
          {isOpen && canChange && until !== undefined && <ReplayActions replay={replay} />}
        </Line>
      }
    >
      <Progress label={`${of} queued`} value={total === 0 ? (isOpen ? 0 : 1) : queued / total} />
      {reason !== "" && <p>{replayReasonWords(reason, waitsFor === "" ? "" : endpointOf(waitsFor))}</p>}
      <Facts
        facts={[
          ["Events", events],
          ["Started by", starter || undefined],
          [
            "Received",
            <span key="range">
              <Time at={since} /> to <Time at={until} />
            </span>,
          ],
          ["To", subscriptionId === "" ? "all matching subscriptions" : endpointOf(subscriptionId)],
          ["Pace", `At most ${perSecond} per second`],
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
        {isPaused ? "Resume" : "Pause"}
      </Button>
      <Button kind="danger" busy={cancel.isSending ? "Sending" : undefined} onPress={() => cancel.send({ id })}>
        Cancel
      </Button>
      <FaultNotice error={update.error ?? cancel.error} />
    </>
  );
}
