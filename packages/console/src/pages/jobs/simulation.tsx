import { useQuery } from "@connectrpc/connect-query";
import { JobsService } from "@svc/gen/jobs";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { prettyJson } from "../../words/pretty-json.ts";

const lookMs = 2_000;

/** What the writes of a simulated job would have sent: how many of each step, and the first ten of each call. */
export function Simulation({ jobId }: { jobId: string }) {
  const list = useQuery(JobsService.method.listSteps, { jobId }, { refetchInterval: lookMs });
  const steps = list.data?.steps.filter(({ simulatedWrites }) => simulatedWrites > 0) ?? [];
  return (
    <Section title="Writes that the simulation did not send">
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton rows={3} />}
      {list.isSuccess && steps.length === 0 && <p>It would have written nothing, or its rows are gone.</p>}
      {steps.map(({ stepId, simulatedWrites, simulatedCalls }) => (
        <div key={stepId}>
          <h3>
            {stepId}: {simulatedWrites}
          </h3>
          <ul>
            {simulatedCalls.map(({ callId, ordinal, toolSlug, entityId, argumentsJson }) => (
              <li key={`${callId} ${ordinal}`}>
                <Disclosure
                  summary={
                    <>
                      row {ordinal} <b>{toolSlug}</b> as {entityId}
                    </>
                  }
                >
                  <CodeBlock
                    text={argumentsJson === "" ? "too long to be kept" : prettyJson(argumentsJson)}
                    what="arguments"
                  />
                </Disclosure>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Section>
  );
}
