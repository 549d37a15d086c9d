import { useQuery } from "@connectrpc/connect-query";
import { IdentityService } from "@svc/gen/identity";
import { Section } from "../../ui/layout/section.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { roleWord } from "../../words/roles.ts";

/** The key that this project's pages call with, as the service knows it. */
export function WhoAmI() {
  const identity = useQuery(IdentityService.method.getIdentity, {});
  const me = identity.data;
  return (
    <Section title="Who you are here">
      <FaultNotice error={identity.error} onRetry={() => void identity.refetch()} />
      {identity.isPending && <Skeleton rows={3} />}
      {me !== undefined && (
        <Facts
          facts={[
            ["Project", me.projectName],
            ["Project id", <Copyable key="project" text={me.projectId} what="project id" />],
            ["Key", me.keyName || "without a name"],
            ["Key id", <Copyable key="key" text={me.keyId} what="key id" />],
            ["Role", roleWord(me.role)],
          ]}
        />
      )}
    </Section>
  );
}
