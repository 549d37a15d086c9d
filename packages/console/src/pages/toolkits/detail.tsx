import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, ToolKind, type Toolkit, ToolkitConnectability, ToolView } from "@svc/gen/catalog";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useApproverWhy } from "../../calls/identity.ts";
import { useWrite } from "../../calls/write.ts";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { schemeWords } from "../../words/accounts.ts";
import { classWord } from "../../words/calls.ts";
import { counted, realmWord, sourceWords } from "../../words/toolkits.ts";
import { BoundCopy, OwnAccountLink } from "./bound-copy.tsx";
import { SourceFacts } from "./source-facts.tsx";

const route = getRouteApi("/p/$projectId/toolkits/$toolkitSlug");

/** Draws the page of one toolkit (svc's definition of one app): its app, how to connect to the app, and its tools. */
export default function ToolkitPage() {
  const { projectId, toolkitSlug } = route.useParams();
  const found = useQuery(CatalogService.method.getToolkit, { slug: toolkitSlug, projectId });
  const toolkit = found.data?.toolkit;
  return (
    <Page
      title={toolkit?.name ?? toolkitSlug}
      state={toolkit !== undefined && <State word={realmWord(toolkit.live)} />}
      back={
        <Link to="/p/$projectId/toolkits" params={{ projectId }}>
          Apps
        </Link>
      }
      actions={
        toolkit !== undefined && (
          <>
            {toolkit.ownerProjectId === "" && <UseOwnAccount projectId={projectId} slug={toolkitSlug} />}
            {toolkit.ownerProjectId !== "" && toolkit.sourceKind !== "shared" && (
              <DeleteToolkit projectId={projectId} slug={toolkitSlug} />
            )}
            {toolkit.connectable && (
              <Link
                to="/p/$projectId/accounts"
                params={{ projectId }}
                search={{ connect: toolkitSlug }}
                className={buttonClass("primary")}
              >
                Connect an account
              </Link>
            )}
          </>
        )
      }
    >
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {toolkit !== undefined && (
        <Stack>
          <p>{toolkit.description}</p>
          <ToolkitFacts toolkit={toolkit} />
          {toolkit.sourceKind === "shared" && <BoundCopy projectId={projectId} toolkit={toolkit} />}
          {["openapi", "mcp"].includes(toolkit.sourceKind) && <Source projectId={projectId} toolkit={toolkit} />}
          <Section title="Tools">
            <ToolkitTools projectId={projectId} toolkit={toolkit} />
          </Section>
        </Stack>
      )}
    </Page>
  );
}

const connectability: Record<ToolkitConnectability, string> = {
  [ToolkitConnectability.UNSPECIFIED]: "No account needed",
  [ToolkitConnectability.READY]: "Yes",
  [ToolkitConnectability.NEEDS_OAUTH_REGISTRATION]: "After the deployment has an OAuth client",
  [ToolkitConnectability.OAUTH_PENDING]: "Yes, but sign-in at the app needs an OAuth client",
};

function ToolkitFacts({ toolkit }: { toolkit: Toolkit }) {
  return (
    <Facts
      facts={[
        ["Slug", <code key="slug">{toolkit.slug}</code>],
        ["Category", toolkit.category.replaceAll("-", " ") || undefined],
        ["Definition", `version ${toolkit.version}`],
        ["Schemes", toolkit.authSchemes.map(schemeWords).join(", ") || "none"],
        ["Connects", connectability[toolkit.connectability] ?? "Unknown. Reload the page."],
        ["Owner", toolkit.ownerProjectId === "" ? undefined : "this project"],
        ["Source", ["file", "shared"].includes(toolkit.sourceKind) ? sourceWords(toolkit.sourceKind) : undefined],
      ]}
    />
  );
}

/** Draws the link that binds a shared toolkit to a real app of the project, if the toolkit has questions about such an app. */
function UseOwnAccount({ projectId, slug }: { projectId: string; slug: string }) {
  const { data } = useQuery(CatalogService.method.getToolkitConnectSpec, { slug });
  if (data?.spec === undefined || data.spec.binding.length === 0) return null;
  return <OwnAccountLink projectId={projectId} slug={slug} words="Use my own account" />;
}

/**
 * Draws a button that deletes a toolkit (an app with its tools) of the project. It first names the objects that are deleted with the
 * toolkit.
 */
function DeleteToolkit({ projectId, slug }: { projectId: string; slug: string }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const remove = useWrite(CatalogService.method.deleteToolkit);
  const act = async () => {
    await remove.sendAsync({ slug });
    announce(`${slug} is deleted.`);
    // Leaves the page first. Otherwise the page would read the deleted toolkit again.
    await navigate({ to: "/p/$projectId/toolkits", params: { projectId } });
    await queries.invalidateQueries();
  };
  return (
    <ConfirmButton
      words="Delete"
      title={`Delete ${slug}?`}
      says="Its tools can no longer be called, and its accounts are deleted. A shared app with the same slug appears again."
      confirm="Delete the app"
      busy="Deleting"
      act={act}
      why={useApproverWhy(projectId)}
    />
  );
}

/** Draws the document or the MCP server from which a toolkit was imported, with a link to the changes that it has since then. */
function Source({ projectId, toolkit: { slug, changesWaiting } }: { projectId: string; toolkit: Toolkit }) {
  const found = useQuery(CatalogService.method.getToolkitSource, { slug });
  const { source } = found.data ?? {};
  return (
    <Section
      title="Source"
      boxed
      actions={
        <Link
          to="/p/$projectId/toolkits/$toolkitSlug/changes"
          params={{ projectId, toolkitSlug: slug }}
          className={buttonClass(changesWaiting > 0 ? "primary" : "plain")}
        >
          {changesWaiting > 0 ? `Look at ${counted(changesWaiting, "change")}` : "Changes"}
        </Link>
      }
    >
      {changesWaiting > 0 && (
        <Notice
          tone="warn"
          title={`${counted(changesWaiting, "change")} of its source wait until an approver accepts them.`}
        />
      )}
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton rows={3} />}
      {source !== undefined && <SourceFacts source={source} />}
    </Section>
  );
}

/** Draws the tools of a toolkit, each with its class (read, write or destructive) and its description. */
function ToolkitTools({ projectId, toolkit }: { projectId: string; toolkit: Toolkit }) {
  const toolkitSlug = toolkit.slug;
  const list = useQuery(CatalogService.method.listTools, { toolkitSlug, projectId, view: ToolView.SUMMARY });
  const tools = list.data?.tools.filter(({ kind }) => kind !== ToolKind.TRIGGER) ?? [];
  return (
    <Stack>
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton rows={4} />}
      {list.isSuccess && tools.length === 0 && <NoTools projectId={projectId} toolkit={toolkit} />}
      {tools.map(({ slug, accessClass, description }) => (
        <Stack key={slug} tight>
          <Line>
            <Link to="/p/$projectId/tools/$toolSlug" params={{ projectId, toolSlug: slug }}>
              {slug}
            </Link>
            <State word={classWord(accessClass)} />
          </Line>
          <p>{description}</p>
        </Stack>
      ))}
    </Stack>
  );
}

/** Draws why a toolkit has no tools: it has only triggers, or its MCP server lists its tools only to a connected account. */
function NoTools({ projectId, toolkit: { slug, sourceKind } }: { projectId: string; toolkit: Toolkit }) {
  const why = useApproverWhy(projectId);
  if (sourceKind !== "mcp") return <p>It has only triggers. You can subscribe to triggers, but not call them.</p>;
  return (
    <Notice
      tone="info"
      title="The MCP server lists its tools only to a connected account."
      actions={
        why === undefined && (
          <Link
            to="/p/$projectId/toolkits/from-source"
            params={{ projectId }}
            search={{ again: slug }}
            className={buttonClass("primary")}
          >
            List its tools
          </Link>
        )
      }
    >
      <p>Connect an account first. Then an approver lists the tools, and sets a class for each.</p>
    </Notice>
  );
}
