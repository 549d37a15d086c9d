import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, type Toolkit, ToolkitConnectability } from "@svc/gen/catalog";
import { getRouteApi, Link } from "@tanstack/react-router";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { schemeWords } from "../../words/accounts.ts";
import { DeleteToolkit } from "./delete-toolkit.tsx";
import { ToolkitTools } from "./toolkit-tools.tsx";

const route = getRouteApi("/p/$projectId/toolkits/$toolkitSlug");

/** One toolkit: the app it reaches, how it is connected, and its tools. */
export default function ToolkitPage() {
  const { projectId, toolkitSlug } = route.useParams();
  const found = useQuery(CatalogService.method.getToolkit, { slug: toolkitSlug, projectId });
  const toolkit = found.data?.toolkit;
  return (
    <Page
      title={toolkit?.name ?? toolkitSlug}
      back={
        <Link to="/p/$projectId/tools" params={{ projectId }}>
          Tools
        </Link>
      }
      actions={
        toolkit !== undefined && (
          <>
            {toolkit.ownerProjectId !== "" && <DeleteToolkit projectId={projectId} slug={toolkitSlug} />}
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
          <Section title="Tools">
            <ToolkitTools projectId={projectId} toolkitSlug={toolkitSlug} />
          </Section>
        </Stack>
      )}
    </Page>
  );
}

const connectability: Record<ToolkitConnectability, string> = {
  [ToolkitConnectability.UNSPECIFIED]: "needs no account",
  [ToolkitConnectability.READY]: "by every scheme",
  [ToolkitConnectability.NEEDS_OAUTH_REGISTRATION]: "not before the deployment registers an OAuth client",
  [ToolkitConnectability.OAUTH_PENDING]: "but not by sign-in at the app, before an OAuth client is registered",
};

function ToolkitFacts({ toolkit }: { toolkit: Toolkit }) {
  return (
    <Facts
      facts={[
        ["Slug", <code key="slug">{toolkit.slug}</code>],
        ["Category", toolkit.category.replaceAll("-", " ") || undefined],
        ["Definition", `version ${toolkit.version}`],
        ["Schemes", toolkit.authSchemes.map(schemeWords).join(", ") || "none"],
        ["Connects", connectability[toolkit.connectability] ?? "this page does not know: reload it"],
        ["Owner", toolkit.ownerProjectId === "" ? undefined : "this project"],
      ]}
    />
  );
}
