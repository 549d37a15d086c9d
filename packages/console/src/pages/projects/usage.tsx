import { useQuery } from "@connectrpc/connect-query";
import { AdminService, type QuotaUsage } from "@svc/gen/admin";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { usageWord } from "../../words/usage.ts";
import { quotaWords } from "./policy.ts";

/** What a project uses of its quotas now. It counts in the store, so it is read when asked for. */
export function Usage({ projectId }: { projectId: string }) {
  const usage = useQuery(AdminService.method.getProjectUsage, { projectId });
  const answer = usage.data;
  return (
    <Stack>
      <FaultNotice error={usage.error} onRetry={() => void usage.refetch()} />
      {usage.isPending && <Skeleton rows={9} />}
      {answer !== undefined && (
        <>
          <Section title="Quotas">
            <Items label="Quotas">
              {answer.quotas.map((quota) => (
                <QuotaItem key={quota.name} quota={quota} />
              ))}
            </Items>
          </Section>
          <Section title="Since this node began">
            <Facts
              facts={[
                ["Calls", count(answer.calls)],
                ["Posts received", count(answer.posts)],
                ["Of those beyond a quota", count(answer.postsBeyond)],
                ["Node", <code key="node">{answer.nodeId}</code>],
              ]}
            />
          </Section>
        </>
      )}
    </Stack>
  );
}

function QuotaItem({ quota }: { quota: QuotaUsage }) {
  const { name, used, most, isDefault, refused } = quota;
  const words = (quotaWords as Record<string, string>)[name] ?? name;
  const bound = most === -1 ? "no bound" : `of ${count(most)}${isDefault ? ", the default" : ""}`;
  return (
    <Item title={words} actions={<State word={usageWord(quota)} />}>
      {used === -1 ? "could not be measured in time" : count(used)} {bound}
      {refused > 0 && `; this node refused ${count(refused)} for it`}
    </Item>
  );
}

function count(number: number): string {
  return number.toLocaleString("en");
}
