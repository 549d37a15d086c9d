import { useQuery } from "@connectrpc/connect-query";
import { type IngestEndpoint, TriggersService } from "@svc/gen/triggers";
import { getRouteApi } from "@tanstack/react-router";
import { serviceBase } from "../../session/base.ts";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock, Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import type { Word } from "../../words/word.ts";
import { curlOf } from "./sample-command.ts";

const set: Word = { word: "takes posts", tone: "ok", icon: "check", says: "Its secret is set." };
const unset: Word = {
  word: "no secret",
  tone: "warn",
  icon: "alert",
  says: "Every post is refused until its secret is set.",
};

const notReady: Word = {
  word: "not ready",
  tone: "warn",
  icon: "alert",
  says: "Every request is refused until the deployment is configured.",
};

const route = getRouteApi("/p/$projectId");

/** Draws the inbound paths to which apps post their webhooks. For each path, lists the setup steps that are missing. */
export default function IngestPage() {
  const { projectId } = route.useParams();
  const list = useQuery(TriggersService.method.listIngestEndpoints, { projectId });
  return (
    <Page title="Ingest">
      <p>Apps post to these addresses. What they post is verified by the secret of its toolkit, and becomes events.</p>
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton />}
      <ul>
        {list.data?.endpoints.map((endpoint) => (
          <li key={endpoint.path}>
            <Disclosure
              initiallyOpen={list.data.endpoints.length === 1}
              summary={
                <>
                  <b>{endpoint.toolkitSlug}</b>
                  <State word={endpoint.fault === "" ? set : endpoint.secretSet ? notReady : unset} />
                </>
              }
            >
              <Endpoint endpoint={endpoint} />
            </Disclosure>
          </li>
        ))}
      </ul>
    </Page>
  );
}

function Endpoint({ endpoint }: { endpoint: IngestEndpoint }) {
  const { toolkitSlug, path, scheme, secretEnv, secretSet, fault, projectId } = endpoint;
  const isPrivate = projectId !== "";
  const curl = curlOf(endpoint, serviceBase);
  return (
    <Stack>
      <Facts
        facts={[
          ["Address", <Copyable key="address" text={`${serviceBase}${path}`} what="address" />],
          ["Verified by", scheme],
          ["Secret", isPrivate ? "in the vault" : <code key="secret">{secretEnv}</code>],
        ]}
      />
      {fault !== "" && secretSet && <p>Every request is refused: {fault}.</p>}
      {!secretSet && (
        <>
          <p>
            {isPrivate
              ? "Store the secret that the app signs with, with an approver's key:"
              : "Start the service with the secret that the app signs with, in this variable:"}
          </p>
          <CodeBlock text={isPrivate ? `npx svc webhooks secrets put ${toolkitSlug}` : `export ${secretEnv}=…`} />
        </>
      )}
      {curl !== "" && (
        <>
          <p>
            Paste this where {isPrivate ? "SECRET" : "that variable"} is set: it posts a sample of the app, signed,
            which makes one event, however often.
          </p>
          <CodeBlock text={curl} />
        </>
      )}
      {!isPrivate && (
        <>
          <p>The same by the command line, a new event each time:</p>
          <CodeBlock text={`npx svc trigger ${toolkitSlug} --url ${serviceBase}`} />
        </>
      )}
    </Stack>
  );
}
