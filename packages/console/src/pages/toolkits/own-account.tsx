import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, type Toolkit, ToolkitConnectability } from "@svc/gen/catalog";
import { type ConnectedAccount, ConnectionsService, type InitiateConnectionResponse } from "@svc/gen/connections";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { realmWord } from "../../words/toolkits.ts";
import { Connecting } from "../accounts/connect-dialog.tsx";
import { ConnectForm } from "../accounts/connect-form.tsx";
import { AppCheck } from "./app-check.tsx";
import { BindingForm } from "./binding-form.tsx";

const route = getRouteApi("/p/$projectId/toolkits/$toolkitSlug/own-account");

/** A bound copy that was just published, and the scheme (such as `api_key`) with which its account is to be connected. */
type Published = { readonly toolkit: Toolkit; readonly scheme: string };

/**
 * Draws the page that uses a shared toolkit (svc's definition of a kind of app) with a real app of the project. The user answers questions
 * about the app, sees the result, publishes it, connects an account, and sees if the app works.
 */
export default function OwnAccountPage() {
  const { projectId, toolkitSlug } = route.useParams();
  const why = useApproverWhy(projectId);
  const found = useQuery(CatalogService.method.getToolkit, { slug: toolkitSlug, projectId });
  const toolkit = found.data?.toolkit;
  const [published, setPublished] = useState<Published>();
  return (
    <Page
      title={`My own account of ${toolkit?.name ?? toolkitSlug}`}
      state={toolkit !== undefined && <State word={realmWord(toolkit.live)} />}
      back={
        <Link to="/p/$projectId/toolkits/$toolkitSlug" params={{ projectId, toolkitSlug }}>
          {toolkitSlug}
        </Link>
      }
    >
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton rows={4} />}
      {why !== undefined ? (
        <Notice tone="warn" icon="lock" title={`You cannot use your own account here. ${why}`} />
      ) : published !== undefined ? (
        <Connect projectId={projectId} published={published} onChange={() => setPublished(undefined)} />
      ) : (
        toolkit !== undefined && (
          <Answer toolkit={toolkit} onPublished={(bound, scheme) => setPublished({ toolkit: bound, scheme })} />
        )
      )}
    </Page>
  );
}

/** Draws the form with the questions about the app. It starts with the answers that the project has stored. */
function Answer({
  toolkit: { slug, sourceKind },
  onPublished,
}: {
  toolkit: Toolkit;
  onPublished: (toolkit: Toolkit, scheme: string) => void;
}) {
  const isBound = sourceKind === "shared";
  const shared = useQuery(CatalogService.method.getToolkitConnectSpec, { slug });
  const source = useQuery(CatalogService.method.getToolkitSource, { slug }, { enabled: isBound });
  const spec = shared.data?.spec;
  const error = shared.error ?? source.error;
  if (!isBound && sourceKind !== "") {
    return (
      <Notice tone="warn" title={`${slug} is an app that this project added.`}>
        <p>Delete it first. If svc ships an app with the same slug, that app appears again.</p>
      </Notice>
    );
  }
  if (error !== null) return <FaultNotice error={error} />;
  if (spec === undefined || (isBound && source.data === undefined)) return <Skeleton rows={4} />;
  return (
    <BindingForm spec={spec} stored={isBound ? source.data?.source?.binding : undefined} onPublished={onPublished} />
  );
}

/** The owner of the account that the command `svc toolkits bind` connects, too. */
const usualOwner = "ops";

/** Draws the next steps after the answers are published: an account is connected, and svc checks the app with it. */
function Connect({
  projectId,
  published: { toolkit, scheme },
  onChange,
}: {
  projectId: string;
  published: Published;
  onChange: () => void;
}) {
  const navigate = route.useNavigate();
  const [begun, setBegun] = useState<InitiateConnectionResponse>();
  const [account, setAccount] = useState<ConnectedAccount>();
  const toolkitSlug = toolkit.slug;
  const params = { projectId, toolkitSlug };
  const leave = () => void navigate({ to: "/p/$projectId/toolkits/$toolkitSlug", params });
  const needsClient = scheme === "oauth2" && toolkit.connectability !== ToolkitConnectability.READY;
  return (
    <Stack>
      <Notice
        tone="ok"
        title={`${toolkitSlug} now calls your app.`}
        actions={<Button onPress={onChange}>Change the answers</Button>}
      >
        <p>The project has a copy of its own, which follows the shared app from release to release.</p>
      </Notice>
      {account !== undefined ? (
        <Section
          title="Check of the app"
          boxed
          actions={<Button onPress={() => setAccount(undefined)}>Connect another account</Button>}
        >
          {account.sandbox ? (
            <Notice
              tone="info"
              title="The sandbox answers for all apps of this deployment, so your app is not asked."
            />
          ) : (
            <AppCheck key={account.id} projectId={projectId} account={account} />
          )}
        </Section>
      ) : needsClient ? (
        <NeedsClient projectId={projectId} slug={toolkitSlug} />
      ) : (
        <Section title="Connect an account" boxed>
          {begun?.account === undefined ? (
            <ConnectForm
              {...params}
              initial={{ entityId: usualOwner, scheme, accountVariables: {} }}
              onBegun={(next) => (next.authorizeUrl === "" ? setAccount(next.account) : setBegun(next))}
            />
          ) : (
            <Connecting
              account={begun.account}
              authorizeUrl={begun.authorizeUrl}
              openWords="Check the app"
              onClose={leave}
              onOpen={() => {
                setAccount(begun.account);
                setBegun(undefined);
              }}
            />
          )}
        </Section>
      )}
      <Line>
        <Link to="/p/$projectId/toolkits/$toolkitSlug" params={params} className={buttonClass()}>
          Open the app
        </Link>
      </Line>
    </Stack>
  );
}

/** Draws the next step if the app's sign-in needs an OAuth client that the project does not have yet. */
function NeedsClient({ projectId, slug }: { projectId: string; slug: string }) {
  // Each issuer sends browsers back to an address of its own, which only the service knows. Each question is logged, so it is asked once.
  const dryRun = useQuery(
    ConnectionsService.method.putToolkitClient,
    { toolkitSlug: slug, dryRun: true },
    { staleTime: "static", retry: false },
  );
  return (
    <Section title="Register svc at the app" boxed>
      <p>Sign-in at the app needs an OAuth client. Register one at the app, with this address for the redirect:</p>
      <FaultNotice error={dryRun.error} onRetry={() => void dryRun.refetch()} />
      {dryRun.isPending && <Skeleton rows={1} />}
      {dryRun.data !== undefined && <CodeBlock text={dryRun.data.redirectUrl} what="address" />}
      <p>Store its id and its secret with this command:</p>
      <CodeBlock text={`svc toolkits client set ${slug}`} />
      <p>
        Then{" "}
        <Link to="/p/$projectId/accounts" params={{ projectId }} search={{ connect: slug }}>
          connect an account
        </Link>
        .
      </p>
    </Section>
  );
}
