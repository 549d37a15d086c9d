import type { Duration } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { IdentityService } from "@svc/gen/identity";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { durationWords } from "../../words/time.ts";

/** Draws facts about the deployment, such as its version, and for how long it keeps data. */
export function DeploymentFacts() {
  const identity = useQuery(IdentityService.method.getIdentity, {});
  const deployment = identity.data?.deployment;
  const kept = deployment?.retentions;
  return (
    <Stack>
      <FaultNotice error={identity.error} onRetry={() => void identity.refetch()} />
      {identity.isPending && <Skeleton rows={6} />}
      {deployment !== undefined && (
        <Section title="Deployment">
          <Facts
            facts={[
              ["Version", deployment.version],
              ["Apps", deployment.sandbox ? "Sandbox, except apps marked “Real app”" : "Real apps"],
              ["Address", <Copyable key="address" text={deployment.publicUrl} what="address" />],
              ["Features", deployment.features.join(", ") || "default"],
            ]}
          />
        </Section>
      )}
      {kept !== undefined && (
        <Section title="Retention">
          <Facts
            facts={[
              ["Events and finished deliveries", keptWords(kept.events)],
              ["Tool calls", keptWords(kept.calls)],
              ["Finished jobs", keptWords(kept.jobs)],
              ["Rows of jobs", keptWords(kept.jobRows)],
              ["Runs of schedules", keptWords(kept.standingRuns)],
            ]}
          />
        </Section>
      )}
    </Stack>
  );
}

function keptWords(duration: Duration | undefined): string {
  return duration === undefined ? "for good" : durationWords(Number(duration.seconds) * 1_000);
}
