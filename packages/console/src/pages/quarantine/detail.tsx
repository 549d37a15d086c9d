import { useQuery } from "@connectrpc/connect-query";
import { AdminService, type QuarantinedPost } from "@svc/gen/admin";
import { TriggersService } from "@svc/gen/triggers";
import { Link, useParams } from "@tanstack/react-router";
import { Columns, Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { quarantineReasonWord } from "../../words/quarantine.ts";
import { Body } from "./body.tsx";
import { ReleaseButton } from "./release-button.tsx";

/**
 * Draws one quarantined webhook post (which svc could not turn into an event): the reason, the whole post, and the button that releases it.
 * The administrator's page shows posts to shared toolkits (apps of all projects). The page of a project shows posts to the project's
 * private toolkits.
 */
export default function QuarantinedPostPage() {
  const { projectId, postId = "" } = useParams({ strict: false });
  const { getQuarantinedPost } = projectId === undefined ? AdminService.method : TriggersService.method;
  const answer = useQuery(getQuarantinedPost, { id: postId });
  const post = answer.data?.post;
  return (
    <Page
      title={post === undefined ? "Quarantined post" : `Post to ${post.toolkitSlug}`}
      tab={`Quarantined post ${postId}`}
      back={
        projectId === undefined ? (
          <Link to="/admin/quarantine">Quarantine</Link>
        ) : (
          <Link to="/p/$projectId/quarantine" params={{ projectId }}>
            Quarantine
          </Link>
        )
      }
      state={post !== undefined && <State word={quarantineReasonWord(post.reason)} />}
      actions={
        post !== undefined && (
          <ReleaseButton
            words="Release…"
            filter={{ ids: [post.id] }}
            why={post.releasedAt === undefined ? undefined : "Already released"}
          />
        )
      }
    >
      <FaultNotice error={answer.error} onRetry={() => void answer.refetch()} />
      {answer.isPending && <Skeleton />}
      {post !== undefined && (
        <Columns>
          <Stack>
            {post.releasedAt === undefined ? (
              <Notice tone="warn" title={quarantineReasonWord(post.reason).says}>
                <p>{post.detail}</p>
              </Notice>
            ) : (
              <Notice tone="ok" title="Released. The result is no longer stored.">
                <p>It was in quarantine because: {post.detail}</p>
              </Notice>
            )}
            <Body body={answer.data?.body ?? new Uint8Array()} />
          </Stack>
          <Stack>
            <PostFacts post={post} />
            <Texts title="Headers" texts={post.headers} none="None stored." />
            <Texts title="Query" texts={post.query} none="None, except its token." />
          </Stack>
        </Columns>
      )}
    </Page>
  );
}

function PostFacts({ post: { id, toolkitSlug, receivedAt, releasedAt, items } }: { post: QuarantinedPost }) {
  return (
    <Section title="Post">
      <Facts
        facts={[
          ["Id", <Copyable key="id" text={id} what="id" />],
          ["App", toolkitSlug],
          ["Elements", items.length === 0 ? undefined : items.join(", ")],
          ["Received", <Time key="received" at={receivedAt} />],
          ["Released", <Time key="released" at={releasedAt} none="no: it is still held" />],
        ]}
      />
    </Section>
  );
}

function Texts({ title, texts, none }: { title: string; texts: Readonly<Record<string, string>>; none: string }) {
  const entries = Object.entries(texts).toSorted(([a], [b]) => a.localeCompare(b));
  return (
    <Section title={title}>
      {entries.length === 0 ? <p>{none}</p> : <Facts facts={entries.map(([name, value]) => [name, value])} />}
    </Section>
  );
}
