import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, type ToolkitChanges, type ToolkitSource, ToolView } from "@svc/gen/catalog";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { failureOf } from "../../calls/fault.ts";
import { useApproverWhy } from "../../calls/identity.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { FileDrop } from "../../ui/fields/file-drop.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { counted, originWords } from "../../words/toolkits.ts";
import { ChangedToolView } from "./changed-tool-view.tsx";
import { type ChangedTool, changedTools, classAfter, classOverrides, originParts } from "./changed-tools.ts";
import { Sides } from "./quoted-text.tsx";
import { SourceFacts } from "./source-facts.tsx";

const route = getRouteApi("/p/$projectId/toolkits/$toolkitSlug/changes");

/**
 * Draws the changes of a toolkit's source (its OpenAPI document or MCP server) that wait until an approver accepts them. Each changed part
 * is shown as it was and as it would be.
 */
export default function ToolkitChangesPage() {
  const { projectId, toolkitSlug } = route.useParams();
  const found = useQuery(CatalogService.method.getToolkitSource, { slug: toolkitSlug });
  const isApprover = useApproverWhy(projectId) === undefined;
  const { source, changes } = found.data ?? {};
  return (
    <Page
      title={`Changes of ${toolkitSlug}`}
      back={
        <Link to="/p/$projectId/toolkits/$toolkitSlug" params={{ projectId, toolkitSlug }}>
          {toolkitSlug}
        </Link>
      }
    >
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {source !== undefined && (
        <Stack>
          <SourceFacts source={source} />
          {isApprover && <ReadAgain slug={toolkitSlug} source={source} />}
          {changes === undefined ? (
            <Notice tone="ok" title="No changes wait." />
          ) : (
            <Waiting
              key={changes.digest}
              projectId={projectId}
              slug={toolkitSlug}
              changes={changes}
              isApprover={isApprover}
            />
          )}
        </Stack>
      )}
    </Page>
  );
}

/** Draws the button that reads the source again, or the choice of a newer document if the source has no address. */
function ReadAgain({ slug, source }: { slug: string; source: ToolkitSource }) {
  const refresh = useRefresh(CatalogService);
  const read = useWrite(CatalogService.method.refreshToolkit, {
    onSuccess: ({ changes }) =>
      announce(changes === undefined ? "The source has not changed." : `${counted(changes.count, "change")} found.`),
    // A source that cannot be read is shown with the reason.
    onSettled: refresh,
  });
  const busy = read.isSending ? "Reading" : undefined;
  return (
    <>
      {source.origin === "" ? (
        <FileDrop
          accept=".json,.yaml,.yml"
          takesFolders={false}
          onFiles={([chosen]) => void chosen?.file.text().then((document) => read.send({ slug, document }))}
        >
          <p>{busy ?? "The app was made from a file. Choose a newer version of it to see what has changed."}</p>
        </FileDrop>
      ) : (
        <Line>
          <Button icon="replay" busy={busy} onPress={() => read.send({ slug })}>
            Read the source again
          </Button>
        </Line>
      )}
      <FaultNotice error={read.error} />
    </>
  );
}

function Waiting({
  projectId,
  slug,
  changes,
  isApprover,
}: {
  projectId: string;
  slug: string;
  changes: ToolkitChanges;
  isApprover: boolean;
}) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [classes, setClasses] = useState<ReadonlyMap<string, string>>(new Map());
  const now = useClasses(projectId, slug);
  const tools = changedTools(changes);
  const choose = (name: string, isChosen: boolean) =>
    setChosen(isChosen ? [...chosen, name] : chosen.filter((other) => other !== name));
  const safe = tools.filter(({ name, isFlagged }) => name !== "" && !isFlagged);
  return (
    <>
      {changes.alteredLeftOff > 0 && (
        <Notice
          tone="warn"
          title={`${counted(changes.alteredLeftOff, "altered part")} more did not fit in the list.`}
          actions={
            isApprover && (
              <Button onPress={() => setChosen(safe.map(({ name }) => name))}>Choose the listed tools</Button>
            )
          }
        >
          <p>Accept the listed tools first. Then the list shows others.</p>
        </Notice>
      )}
      {!isApprover && <Notice tone="info" icon="lock" title="A key with the role approver accepts these changes." />}
      {isApprover && (
        <AcceptButtons slug={slug} changes={changes} tools={tools} chosen={chosen} now={now} classes={classes} />
      )}
      {changes.originAfter !== "" && (
        <Section title="Where calls and credentials go" boxed>
          <Notice tone="bad" title="The source has another address for calls, or another way to sign in.">
            <p>
              “Accept all changes” leaves this change out. If you accept it, all accounts of the toolkit must be
              connected again.
            </p>
          </Notice>
          {originParts(changes).map(({ field, before, after }) => (
            <Sides key={field} title={originWords(field)} before={before} after={after} />
          ))}
        </Section>
      )}
      {tools.length > 0 && (
        <Section title="What changed">
          {tools.map((tool) => {
            const proposed = classAfter(tool, now);
            return (
              <ChangedToolView
                key={tool.name}
                tool={tool}
                isChosen={chosen.includes(tool.name)}
                onChoose={isApprover && tool.name !== "" ? (isOn) => choose(tool.name, isOn) : undefined}
                access={
                  isApprover && proposed !== undefined
                    ? {
                        proposed,
                        value: classes.get(tool.name),
                        onChange: (access) => setClasses(new Map([...classes, [tool.name, access]])),
                      }
                    : undefined
                }
              />
            );
          })}
        </Section>
      )}
    </>
  );
}

/** Returns the classes of the tools of a toolkit as they are now, by the name of the tool. Empty until they are loaded. */
function useClasses(projectId: string, slug: string): ReadonlyMap<string, string> {
  const request = { toolkitSlug: slug, projectId, view: ToolView.SUMMARY };
  const { data } = useQuery(CatalogService.method.listTools, request);
  return new Map(data?.tools.map((tool) => [tool.slug.slice(slug.length + 1), tool.accessClass]));
}

/** Draws the buttons that accept changes: all except suspicious ones, or those of chosen tools, with or without the new address. */
function AcceptButtons({
  slug,
  changes: { digest, originAfter, alteredLeftOff },
  tools,
  chosen,
  now,
  classes,
}: {
  slug: string;
  changes: ToolkitChanges;
  tools: readonly ChangedTool[];
  chosen: readonly string[];
  now: ReadonlyMap<string, string>;
  classes: ReadonlyMap<string, string>;
}) {
  const refresh = useRefresh(CatalogService);
  const accept = useWrite(CatalogService.method.acceptToolkitChanges, {
    onSuccess: async ({ changes }) => {
      announce(changes === undefined ? "The changes are accepted." : `Accepted. ${changes.count} more wait.`);
      await refresh();
    },
  });
  const isOutdated = failureOf(accept.error).faults.some(({ reason }) => reason === "CHANGES_OUTDATED");
  const flagged = tools.filter(({ isFlagged }) => isFlagged).length;
  // A class is sent only for a tool that is accepted.
  const accepted = tools.filter(({ name, isFlagged }) => (chosen.length > 0 ? chosen.includes(name) : !isFlagged));
  const overrides = classOverrides(accepted, { now, chosen: classes });
  const isNone = accepted.length === 0 || (chosen.length === 0 && alteredLeftOff > 0);
  const words = chosen.length > 0 ? `Accept ${counted(chosen.length, "chosen tool")}` : "Accept all changes";
  const request = { slug, digest, toolNames: [...chosen], overrides };
  return (
    <>
      {flagged > 0 && (
        <Notice tone="warn" title={`${counted(flagged, "tool")} with suspicious texts must be chosen by name.`}>
          <p>Their texts give orders to the AI model that reads them. “Accept all changes” leaves them out.</p>
        </Notice>
      )}
      <Line>
        <Button
          kind="primary"
          icon="check"
          why={isNone ? "Choose a tool first" : undefined}
          busy={accept.isSending ? "Accepting" : undefined}
          onPress={() => accept.send(request)}
        >
          {words}
        </Button>
        {originAfter !== "" && (
          <ConfirmButton
            words="Accept the new address too"
            title="Send calls and credentials elsewhere?"
            says={`From now on, calls of ${slug} go to the new address, or use the new way to sign in. All its accounts must be connected again. The changes of ${counted(accepted.length, "tool")} are accepted at the same time.`}
            confirm="Accept the new address"
            busy="Accepting"
            act={() => accept.sendAsync({ ...request, origin: true })}
          />
        )}
      </Line>
      {isOutdated ? (
        <div role="alert">
          <Notice
            tone="warn"
            title="The changes are no longer the newest. Nothing was accepted."
            actions={<Button onPress={() => void refresh()}>Show the newest changes</Button>}
          />
        </div>
      ) : (
        <FaultNotice error={accept.error} />
      )}
    </>
  );
}
