import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import type { Failure } from "@svc/gen/failures";
import { JobsService, JobView } from "@svc/gen/jobs";
import { type FailureGroup, StatsService, TraceKind } from "@svc/gen/stats";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { type Rows, useRows } from "../../calls/rows.ts";
import { useNow } from "../../clock.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { outcomeWord } from "../../words/calls.ts";
import { deliveryWord } from "../../words/deliveries.ts";
import { jobStatusWord } from "../../words/jobs.ts";
import { BulkDialog } from "../jobs/bulk-bar.tsx";
import { jobTitle } from "../jobs/job-words.ts";
import styles from "./detail.module.css";

const route = getRouteApi("/p/$projectId/failures/$fingerprint");
const hourMs = 3_600_000;
/** Time for which svc keeps a group of failures. */
const keptMs = 8 * 24 * hourMs;
const pageSize = 50;

/** Draws a group of failures with the same cause: when they happened, and what failed. */
export default function FailurePage() {
  const { projectId, fingerprint } = route.useParams();
  const sinceMs = useNow(hourMs) - keptMs;
  const found = useQuery(StatsService.method.listFailures, {
    since: timestampFromMs(sinceMs - (sinceMs % hourMs)),
  });
  const group = found.data?.groups.find((one) => one.fingerprint === fingerprint);
  return (
    <Page
      title={group?.title ?? "Failure"}
      tab="Failure"
      back={
        <Link to="/p/$projectId/home" params={{ projectId }}>
          Home
        </Link>
      }
      actions={group?.kind === TraceKind.JOB && <RetryJobs fingerprint={fingerprint} />}
    >
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {found.isSuccess && group === undefined && (
        <Notice tone="info" title="This failure did not happen in the last 8 days" />
      )}
      {group !== undefined && (
        <Stack>
          <Hours group={group} />
          <Members group={group} projectId={projectId} />
        </Stack>
      )}
    </Page>
  );
}

/** Draws how often a failure happened in each of the last 24 hours. */
function Hours({ group: { hourlyCounts, count, firstAt, lastAt } }: { group: FailureGroup }) {
  const most = Math.max(1, ...hourlyCounts);
  const today = hourlyCounts.reduce((sum, one) => sum + one, 0);
  const words = `${timesWords(today)} in the last 24 hours, ${timesWords(count)} in 8 days`;
  return (
    <Section title="When it happened">
      <div className={styles["hours"]} role="img" aria-label={words}>
        {hourlyCounts.map((one, hour) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the index is the hour, which never changes its place
            key={hour}
            className={styles["hour"]}
            style={{ height: `${Math.max(one === 0 ? 2 : 8, (100 * one) / most)}%` }}
            title={`${timesWords(one)}, ${hourlyCounts.length - 1 - hour} hours ago`}
          />
        ))}
      </div>
      <p>
        {words}. First <Time at={firstAt} />, last <Time at={lastAt} />.
      </p>
    </Section>
  );
}

function timesWords(count: number): string {
  return count === 1 ? "once" : `${count.toLocaleString("en")} times`;
}

/** Draws the button that retries the jobs of a group, with their number. */
function RetryJobs({ fingerprint }: { fingerprint: string }) {
  const [isOpen, setOpen] = useState(false);
  const filter = { failureFingerprint: fingerprint, mode: "live" };
  return (
    <>
      <Button kind="primary" icon="replay" onPress={() => setOpen(true)}>
        Retry all
      </Button>
      {isOpen && (
        <BulkDialog act="retry" of={{ filter }} onClose={() => setOpen(false)} onDone={() => setOpen(false)} />
      )}
    </>
  );
}

function Members({ group, projectId }: { group: FailureGroup; projectId: string }) {
  switch (group.kind) {
    case TraceKind.JOB:
      return <JobMembers group={group} projectId={projectId} />;
    case TraceKind.DELIVERY:
      return <DeliveryMembers group={group} projectId={projectId} />;
    default:
      return <CallMembers group={group} projectId={projectId} />;
  }
}

type MembersProps = { group: FailureGroup; projectId: string };

function JobMembers({ group: { fingerprint }, projectId }: MembersProps) {
  const request = { failureFingerprint: fingerprint, mode: "live", view: JobView.SUMMARY, pageSize };
  const list = useRows(JobsService.method.listJobs, request, ({ jobs }) => jobs, { refetchMs: 5_000 });
  return (
    <MemberList title="Jobs" list={list}>
      {list.rows.map((job) => (
        <Item
          key={job.id}
          title={
            <Link to="/p/$projectId/jobs/$jobId" params={{ projectId, jobId: job.id }}>
              {jobTitle(job)}
            </Link>
          }
        >
          <State word={jobStatusWord(job.status)} /> <Time at={job.finishedAt ?? job.updatedAt} />
        </Item>
      ))}
    </MemberList>
  );
}

/** Draws the failed calls of the group: those of the newest call's tool and outcome that have the same fingerprint. */
function CallMembers({ group, projectId }: MembersProps) {
  const newest = useQuery(ToolsService.method.getToolCall, { id: group.newestId });
  const { toolSlug = "", outcome = "" } = newest.data?.call ?? {};
  const request = { toolSlug, outcome, pageSize };
  const list = useRows(ToolsService.method.listToolCalls, request, ({ calls }) => calls.filter(isOf(group)), {
    enabled: newest.isSuccess,
  });
  if (newest.isLoadingError) return <MembersFault title="Calls" newest={newest} />;
  return (
    <MemberList title="Calls" list={list}>
      {list.rows.map((call) => (
        <Item
          key={call.id}
          title={
            <Link to="/p/$projectId/calls/$callId" params={{ projectId, callId: call.id }}>
              {call.toolTitle || call.toolSlug}
            </Link>
          }
        >
          <State word={outcomeWord(call.outcome)} /> {call.entityId} <Time at={call.createdAt} />
        </Item>
      ))}
    </MemberList>
  );
}

function DeliveryMembers({ group, projectId }: MembersProps) {
  const newest = useQuery(TriggersService.method.getDelivery, { id: group.newestId });
  const subscriptionId = newest.data?.delivery?.subscriptionId ?? "";
  const request = { subscriptionId, onlyFailed: true, pageSize };
  const list = useRows(
    TriggersService.method.listDeliveries,
    request,
    ({ deliveries }) => deliveries.filter(isOf(group)),
    { enabled: subscriptionId !== "" },
  );
  if (newest.isLoadingError) return <MembersFault title="Deliveries" newest={newest} />;
  return (
    <MemberList
      title="Deliveries"
      list={list}
      more={
        subscriptionId !== "" && (
          <Link to="/p/$projectId/subscriptions/$subscriptionId" params={{ projectId, subscriptionId }}>
            Open the endpoint
          </Link>
        )
      }
    >
      {list.rows.map((delivery) => (
        <Item
          key={delivery.id}
          title={
            <Link to="/p/$projectId/deliveries/$deliveryId" params={{ projectId, deliveryId: delivery.id }}>
              {delivery.id}
            </Link>
          }
        >
          <State word={deliveryWord(delivery)} /> <Time at={delivery.createdAt} />
        </Item>
      ))}
    </MemberList>
  );
}

/** Draws why the newest member of a group could not be read. The others are found by it, so none is shown. */
function MembersFault({
  title,
  newest,
}: {
  title: string;
  newest: { error: unknown; refetch: () => Promise<unknown> };
}) {
  return (
    <Section title={title}>
      <FaultNotice error={newest.error} onRetry={() => void newest.refetch()} />
    </Section>
  );
}

function isOf({ fingerprint }: FailureGroup) {
  return ({ failure }: { failure?: Failure | undefined }) => failure?.fingerprint === fingerprint;
}

function MemberList<Row>({
  title,
  list,
  more,
  children,
}: {
  title: string;
  list: Rows<Row>;
  more?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Section title={title} actions={more}>
      <ListStates list={list} empty={<p>They are deleted, or do not fail any more.</p>} skeletonRows={4}>
        <Items label={title}>{children}</Items>
      </ListStates>
      <LoadMore list={list} />
    </Section>
  );
}
