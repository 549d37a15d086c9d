import { type AddedTool, CatalogService, type ImportReport, type Toolkit } from "@svc/gen/catalog";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { AreaField, TextField } from "../../ui/fields/field.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { VirtualList } from "../../ui/rows/virtual-list.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { schemeWords } from "../../words/accounts.ts";
import { accessClasses, classCountWord } from "../../words/calls.ts";
import { visible } from "../../words/text.ts";
import { counted, leftOutWords, noteWords } from "../../words/toolkits.ts";
import { useToolkits } from "../tools/catalog.ts";
import { ClassSelect } from "./class-select.tsx";
import styles from "./import-preview.module.css";
import { importRequest, overridesOf, type ToolChoices } from "./import-request.ts";
import { PublishButton, useOpenPublished } from "./publish-button.tsx";
import { QuotedText } from "./quoted-text.tsx";
import type { FoundSource } from "./use-look.ts";

/** Maximum number of choices in one import request. */
const overridesMax = 1_000;

/**
 * Draws what an import would make, with a class that the user can change for each tool, and the button that publishes the toolkit. All
 * texts of the source are shown as plain text.
 */
export function ImportPreview({ projectId, found }: { projectId: string; found: FoundSource }) {
  const { kind, input, answer } = found;
  const { report, toolkit, tools } = answer;
  const [choices, setChoices] = useState<ToolChoices>({ classes: {}, descriptions: {} });
  const overrides = overridesOf(tools, choices);
  const setClasses = (classes: ToolChoices["classes"]) =>
    setChoices({ ...choices, classes: { ...choices.classes, ...classes } });
  if (report === undefined || toolkit === undefined) return null;
  return (
    <>
      <Section title="What was found" boxed>
        <Stack>
          <ReportFacts report={report} toolkit={toolkit} tools={tools} choices={choices} />
          <Replaced projectId={projectId} slug={toolkit.slug} />
          <PublishImport
            projectId={projectId}
            request={{ ...importRequest({ ...input, slug: toolkit.slug }, kind, overrides), digest: answer.digest }}
            why={
              overrides.length > overridesMax
                ? `At most ${counted(overridesMax, "choice")} can be published at once, and you made ${overrides.length}`
                : undefined
            }
          />
        </Stack>
      </Section>
      <Section title={counted(tools.length, "tool")}>
        <Suggested report={report} tools={tools} choices={choices} onChange={setClasses} />
        <ToolList report={report} tools={tools} choices={choices} onChange={setClasses} />
      </Section>
      <Flagged report={report} choices={choices} onChange={setChoices} />
      <LeftOut report={report} />
      <Notes report={report} />
    </>
  );
}

function ReportFacts({
  report,
  toolkit,
  tools,
  choices: { classes },
}: {
  report: ImportReport;
  toolkit: Toolkit;
  tools: readonly AddedTool[];
  choices: ToolChoices;
}) {
  const { title, version, format, baseUrl, foreignHost, operations, openKeys } = report;
  const host = /^https?:\/\/([^/?#]+)/.exec(baseUrl)?.[1] ?? baseUrl;
  const isMcp = format.startsWith("MCP");
  const classesNow = tools.map(({ name, class: access }) => classes[name] ?? access);
  const isOpen = toolkit.authSchemes.every((scheme) => scheme === "none");
  return (
    <>
      <Facts
        facts={[
          ["Title", `${title} ${version}`.trim()],
          ["Format", format],
          ["Slug", <code key="slug">{toolkit.slug}</code>],
          [isOpen ? "Calls go to" : "Credentials go to", <bdi key="host">{visible(host)}</bdi>],
          ["Signs in with", isOpen ? "no credential" : toolkit.authSchemes.map(schemeWords).join(", ")],
          [isMcp ? "Tools" : "Operations", `${tools.length} of ${operations} become tools`],
          [
            "Classes",
            <Line key="classes">
              {accessClasses.map((access) => (
                <State key={access} word={classCountWord(access, classesNow.filter((one) => one === access).length)} />
              ))}
            </Line>,
          ],
          ["Seen at once by", openKeys === 0 ? undefined : `keys and grants without a limit on apps: ${openKeys}`],
        ]}
      />
      {foreignHost !== "" && (
        <Notice tone="warn" title={`Calls and credentials go to ${visible(foreignHost)}.`}>
          <p>
            This host is of another domain than the document. Publish the toolkit only if you know that it is right.
          </p>
        </Notice>
      )}
    </>
  );
}

function Replaced({ projectId, slug }: { projectId: string; slug: string }) {
  const before = useToolkits(projectId).find((toolkit) => toolkit.slug === slug);
  if (before === undefined) return null;
  const says =
    before.ownerProjectId === ""
      ? `The project no longer sees the shared toolkit ${slug}.`
      : `It replaces the project's toolkit ${slug}.`;
  return (
    <Notice tone="warn" title={says}>
      <p>Accounts stay connected, except if the address for calls or the way to sign in has changed.</p>
    </Notice>
  );
}

function PublishImport({
  projectId,
  request,
  why,
}: {
  projectId: string;
  request: ReturnType<typeof importRequest>;
  why: string | undefined;
}) {
  const open = useOpenPublished(projectId);
  const publish = useWrite(CatalogService.method.importToolkit, {
    onSuccess: async ({ toolkit }) => {
      const slug = toolkit?.slug ?? "";
      await open(slug, slug);
    },
  });
  return <PublishButton publish={publish} why={why} onPress={() => publish.send(request)} />;
}

type ClassesProps = {
  report: ImportReport;
  tools: readonly AddedTool[];
  choices: ToolChoices;
  onChange: (classes: ToolChoices["classes"]) => void;
};

/** Number of suggestions that are named. The others are only counted. */
const namedMax = 8;

/** Draws the classes that svc suggests by the names of tools, and a button that chooses them. */
function Suggested({ report: { suggestions, format }, choices, onChange }: ClassesProps) {
  const open = suggestions.filter(({ tool, class: access }) => choices.classes[tool] !== access);
  if (open.length === 0) return null;
  const named = open.slice(0, namedMax).map(({ tool, class: access }) => `${tool} (${access})`);
  const more = open.length > namedMax ? `, and ${open.length - namedMax} more` : "";
  const onlyReads = open.every(({ class: access }) => access === "read") ? "may only read" : "may need another class";
  const says = format.startsWith("MCP") ? "may do less than the server says" : onlyReads;
  return (
    <Notice
      tone="info"
      title={`${counted(open.length, "tool")} ${says}, by ${open.length === 1 ? "its name" : "their names"}.`}
      actions={
        <Button onPress={() => onChange(Object.fromEntries(open.map(({ tool, class: access }) => [tool, access])))}>
          Use these classes
        </Button>
      }
    >
      <p>{`${named.join(", ")}${more}. Use these classes only if you know the app.`}</p>
    </Notice>
  );
}

function ToolList({ report: { notes }, tools, choices: { classes }, onChange }: ClassesProps) {
  const [filter, setFilter] = useState("");
  const text = filter.trim().toLowerCase();
  const shown = tools.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(text));
  const says = new Map(notes.flatMap(({ tool, kind, detail }) => (kind === "says" ? [[tool, detail]] : [])));
  return (
    <Stack>
      <div className={styles["tools"]}>
        <TextField label="Filter tools" type="search" value={filter} onChange={setFilter} autoComplete="off" />
        {accessClasses.map((access) => (
          <Button
            key={access}
            why={shown.length === 0 ? "No tool is shown" : undefined}
            onPress={() => onChange(Object.fromEntries(shown.map(({ name }) => [name, access])))}
          >
            {`Set shown to ${access}`}
          </Button>
        ))}
      </div>
      {shown.length === 0 && <p>No tool matches.</p>}
      {shown.length > 0 && (
        <VirtualList label="Tools" rows={shown} rowId={({ name }) => name} follows={false}>
          {(tool) => (
            <div className={styles["row"]}>
              <div>
                <div className={styles["name"]}>
                  <code>{tool.name}</code>
                  {says.has(tool.name) && <span className={styles["says"]}>server says: {says.get(tool.name)}</span>}
                </div>
                <p dir="auto">{visible(tool.description)}</p>
              </div>
              <ClassSelect
                tool={tool.name}
                proposed={tool.class}
                value={classes[tool.name]}
                onChange={(access) => onChange({ [tool.name]: access })}
              />
            </div>
          )}
        </VirtualList>
      )}
    </Stack>
  );
}

/** Number of suspicious operations whose texts are shown. The others are listed with what is left out. */
const flaggedMax = 20;

/** Draws the operations whose descriptions give orders to AI models, with a field for a description of the user's own. */
function Flagged({
  report: { leftOut },
  choices,
  onChange,
}: {
  report: ImportReport;
  choices: ToolChoices;
  onChange: (choices: ToolChoices) => void;
}) {
  const flagged = leftOut.filter(({ reason }) => reason === "flagged").slice(0, flaggedMax);
  if (flagged.length === 0) return null;
  const { descriptions } = choices;
  return (
    <Section title={`Suspicious: ${counted(flagged.length, "description")}`}>
      <p>
        These texts give orders to the AI model that reads them, or hide characters. The operations are left out, unless
        you write a description of your own.
      </p>
      {flagged.map(({ operation, name, description }) => (
        <Section key={operation} title={operation} boxed>
          <QuotedText text={description} />
          <AreaField
            label={`Own description of ${name}`}
            value={descriptions[name] ?? ""}
            onChange={(text) => onChange({ ...choices, descriptions: { ...descriptions, [name]: text } })}
            hint="At least 40 characters: the effect of the tool, when to use it, and its result."
          />
        </Section>
      ))}
    </Section>
  );
}

function LeftOut({ report: { leftOut } }: { report: ImportReport }) {
  if (leftOut.length === 0) return null;
  const groups = [...Map.groupBy(leftOut, ({ reason }) => reason)];
  return (
    <Disclosure summary={`${counted(leftOut.length, "operation")} left out`}>
      <Stack>
        {groups.map(([reason, operations]) => (
          <Names key={reason} title={leftOutWords(reason)} names={operations.map(({ operation }) => operation)} />
        ))}
      </Stack>
    </Disclosure>
  );
}

function Notes({ report: { notes } }: { report: ImportReport }) {
  const shown = notes.filter(({ kind }) => kind !== "says");
  if (shown.length === 0) return null;
  const groups = [...Map.groupBy(shown, ({ kind }) => kind)];
  return (
    <Disclosure summary={counted(shown.length, "note")}>
      <Stack>
        {groups.map(([kind, of]) => (
          <Names
            key={kind}
            title={noteWords(kind)}
            names={of.map(({ tool, detail }) => (tool === "" ? detail : `${tool}: ${detail}`))}
          />
        ))}
      </Stack>
    </Disclosure>
  );
}

/** Number of entries of a group that are shown. */
const entriesMax = 200;

function Names({ title, names }: { title: string; names: readonly string[] }) {
  return (
    <div className={styles["reasons"]}>
      <h3>{`${title} (${names.length})`}</h3>
      <ul>
        {names.slice(0, entriesMax).map((name, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and two entries may be equal
          <li key={index}>{visible(name)}</li>
        ))}
      </ul>
      {names.length > entriesMax && <p>{`and ${names.length - entriesMax} more`}</p>}
    </div>
  );
}
