import { createConnectQueryKey, useQuery } from "@connectrpc/connect-query";
import { CatalogService, type Toolkit } from "@svc/gen/catalog";
import { type ConnectedAccount, ConnectionsService } from "@svc/gen/connections";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useWrite } from "../../calls/write.ts";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { RealmSection } from "../../ui/layout/realm-section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { visible } from "../../words/text.ts";
import { counted } from "../../words/toolkits.ts";
import { AppCheck } from "./app-check.tsx";
import { answersOf, questionWords } from "./binding-answers.ts";

/**
 * Draws the real app that a project has bound to a shared toolkit: the project's answers about the app, and a check of it. A button removes
 * the binding, so that the shared toolkit is used again.
 */
export function BoundCopy({ projectId, toolkit: { slug, live } }: { projectId: string; toolkit: Toolkit }) {
  const [checked, setChecked] = useState<ConnectedAccount>();
  const why = useApproverWhy(projectId);
  const source = useQuery(CatalogService.method.getToolkitSource, { slug });
  const shared = useQuery(CatalogService.method.getToolkitConnectSpec, { slug });
  const accounts = useOwnAccounts(slug);
  const usable = accounts.data?.find(({ state, sandbox }) => state === "active" && !sandbox);
  // Without the accounts, the page does not know which one to check, and how many a deletion would erase.
  const unread = accounts.data === undefined ? unreadWhy[accounts.isError ? "failed" : "reading"] : undefined;
  const { binding } = source.data?.source ?? {};
  const labelOf = (path: string) => {
    const question = shared.data?.spec?.binding.find((one) => one.path === path);
    return question === undefined ? path : questionWords(question).label;
  };
  return (
    <RealmSection title="My own account" isSandbox={!live}>
      <Stack>
        <FaultNotice error={source.error} onRetry={() => void source.refetch()} />
        <FaultNotice error={accounts.error} onRetry={() => void accounts.refetch()} />
        {source.isPending && <Skeleton rows={2} />}
        {binding !== undefined && (
          <Facts
            facts={[
              ...Object.entries(answersOf(binding)).map(([path, answer]) => [labelOf(path), answer] as const),
              ["Changes of its definition", binding.overlayJson === "" ? undefined : "by a file of the project"],
              ["Follows", "the shared app, from release to release"],
            ]}
          />
        )}
        <Line>
          {checked === undefined && (
            <Button
              icon="check"
              why={live ? (unread ?? (usable === undefined ? "Connect an account first." : undefined)) : sandboxWhy}
              onPress={() => setChecked(usable)}
            >
              Check the app
            </Button>
          )}
          <OwnAccountLink projectId={projectId} slug={slug} words="Change the answers" />
          <GoBack slug={slug} accounts={accounts.data?.length ?? 0} why={why ?? unread} />
        </Line>
        {checked !== undefined && <AppCheck key={checked.id} projectId={projectId} account={checked} />}
      </Stack>
    </RealmSection>
  );
}

const sandboxWhy = "The sandbox answers here.";
const unreadWhy = { reading: "The accounts are being read.", failed: "The accounts could not be read." } as const;

/** Maximum number of accounts that the page reads and counts. */
const accountsMax = 500;
const living = ["pending", "active", "expired"];

/** Returns the query for the accounts that deleting a bound copy would delete, the newest first. */
function useOwnAccounts(toolkitSlug: string) {
  return useQuery(
    ConnectionsService.method.listConnections,
    { toolkitSlug, pageSize: accountsMax },
    {
      select: ({ accounts }) =>
        accounts.filter(({ toolkitOwnerProjectId, state }) => toolkitOwnerProjectId !== "" && living.includes(state)),
    },
  );
}

/**
 * Draws the link to the page where the project connects its own real app to a toolkit. If the user may not do this, draws a disabled button
 * with the reason.
 */
export function OwnAccountLink({ projectId, slug, words }: { projectId: string; slug: string; words: string }) {
  const why = useApproverWhy(projectId);
  if (why !== undefined) return <Button why={why}>{words}</Button>;
  return (
    <Link
      to="/p/$projectId/toolkits/$toolkitSlug/own-account"
      params={{ projectId, toolkitSlug: slug }}
      className={buttonClass()}
    >
      {words}
    </Link>
  );
}

/** Draws the button that deletes a bound copy, so that the project uses the shared toolkit again. It first says what is deleted. */
function GoBack({ slug, accounts, why }: { slug: string; accounts: number; why: string | undefined }) {
  const queries = useQueryClient();
  const remove = useWrite(CatalogService.method.deleteToolkit);
  const many = accounts >= accountsMax ? `${accountsMax} or more accounts` : counted(accounts, "account");
  const act = async () => {
    await remove.sendAsync({ slug });
    announce(`The project uses the shared app ${slug} again.`);
    // The copy has no source any more, so its source is not read again.
    const [, ofSource] = createConnectQueryKey({
      schema: CatalogService.method.getToolkitSource,
      cardinality: "finite",
    });
    await queries.invalidateQueries({
      predicate: ({ queryKey: [, of] }) => (of as typeof ofSource | undefined)?.methodName !== ofSource.methodName,
    });
  };
  return (
    <ConfirmButton
      words="Go back to the shared app"
      title={`Go back to the shared ${slug}?`}
      says={`The copy of this project is deleted with your answers${accounts === 0 ? "" : ` and ${many}, whose credentials are erased`}. The shared app appears again. Programs and schedules that use ${visible(slug)} then call the shared app. Your own app does not change.`}
      confirm={accounts === 0 ? "Delete the copy" : `Delete the copy and ${many}`}
      busy="Deleting"
      act={act}
      why={why}
    />
  );
}
