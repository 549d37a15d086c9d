import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { TestResult } from "./test-result.tsx";

/** Draws the button that sends a test event to a subscription, and then the delivery of this event with its result. */
export function TestDelivery({
  projectId,
  subscription: { id, active, inactiveReason, endpointUrl },
}: {
  projectId: string;
  subscription: Subscription;
}) {
  const send = useWrite(TriggersService.method.sendTestEvent);
  const sent = send.answer?.delivery;
  return (
    <Section
      title="Try it"
      actions={
        <Button
          icon="send"
          why={active ? undefined : `Nothing is sent while it is ${inactiveReason === "paused" ? "paused" : "off"}.`}
          busy={send.isSending ? "Sending" : undefined}
          onPress={() => send.send({ subscriptionId: id })}
        >
          Send a test event
        </Button>
      }
    >
      <FaultNotice error={send.error} />
      {sent === undefined ? (
        <p>
          A test event has the type "test" and the payload {"{}"}. If the subscription has a body template, the payload
          is the sample of an event type. A test event is signed, retried and recorded like any other event.
        </p>
      ) : (
        <TestResult projectId={projectId} sent={sent} endpointUrl={endpointUrl} />
      )}
    </Section>
  );
}
