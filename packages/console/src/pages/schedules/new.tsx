import { useQuery } from "@connectrpc/connect-query";
import { JobsService } from "@svc/gen/jobs";
import { StandingService } from "@svc/gen/standing";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Document } from "../../builder/document.ts";
import { GalleryButton, useExample } from "../../builder/gallery-button.tsx";
import { placeFailure } from "../../calls/fault.ts";
import { useRows } from "../../calls/rows.ts";
import { useWrite } from "../../calls/write.ts";
import { setText } from "../../json/patch.ts";
import { memberOf } from "../../json/value.ts";
import { usePreferences } from "../../shell/preferences.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ChipSelect } from "../../ui/fields/chip-fields.tsx";
import { CheckField, TextField } from "../../ui/fields/field.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { zoneName } from "../../words/time.ts";
import { exampleProgram } from "../programs/example.ts";
import { skeletonInput } from "../skills/skeleton-input.ts";
import { newDefinition, programOfSkill, slugOf } from "./definition.ts";
import { ScheduleEditor } from "./schedule-editor.tsx";

const route = getRouteApi("/p/$projectId/schedules/new");

/** Draws the page that makes a schedule. It starts from an example, or runs a skill. */
export default function NewSchedulePage() {
  const { skill, example } = route.useSearch();
  const { zone } = usePreferences();
  const found = useExample(example);
  if (skill !== undefined) return <OfSkill key={skill} slug={skill} />;
  if ("waiting" in found) {
    return (
      <Page title="New schedule" back={<Back />}>
        {found.waiting}
      </Page>
    );
  }
  const { isSchedule = false, text = exampleProgram } = found.example ?? {};
  return <NewSchedule key={example} initial={isSchedule ? text : newDefinition(zoneName(zone), text)} />;
}

/** Draws the form of a new schedule that runs a skill. The schedule always uses the version that is the newest when it is created. */
function OfSkill({ slug }: { slug: string }) {
  const { zone } = usePreferences();
  const found = useQuery(JobsService.method.getSkill, { slug });
  const skill = found.data?.skill;
  if (skill !== undefined) {
    const program = programOfSkill(skill.toolSlug, skeletonInput(skill.inputSchemaJson));
    return <NewSchedule initial={newDefinition(zoneName(zone), program)} />;
  }
  return (
    <Page title="New schedule" back={<Back />}>
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
    </Page>
  );
}

function Back() {
  const { projectId } = route.useParams();
  return (
    <Link to="/p/$projectId/schedules" params={{ projectId }}>
      Schedules
    </Link>
  );
}

function NewSchedule({ initial }: { initial: string }) {
  const { projectId } = route.useParams();
  const navigate = route.useNavigate();
  // The name that the user typed. Until then it follows the title.
  const [slug, setSlug] = useState<string>();
  const [simulate, setSimulate] = useState(false);
  const [paused, setPaused] = useState(false);
  const create = useWrite(StandingService.method.createStandingProgram, {
    onSuccess: ({ standingProgram }) => {
      announce("The schedule is created.");
      const scheduleId = standingProgram?.id ?? "";
      void navigate({ to: "/p/$projectId/schedules/$scheduleId", params: { projectId, scheduleId } });
    },
  });
  const { at, rest } = placeFailure(create.error, ["slug"]);
  return (
    <ScheduleEditor
      title="New schedule"
      back={<Back />}
      initial={initial}
      naming={({ title }) => (
        <TextField
          label="Name"
          mono
          isRequired
          autoComplete="off"
          value={slug ?? slugOf(title)}
          onChange={setSlug}
          fault={at.slug}
          hint="Used in URLs and commands. Lower-case letters, digits, - and _."
        />
      )}
      runs={(steps, document) => <RunsChoice steps={steps} document={document} />}
      examples={(document) => (
        <GalleryButton
          kind="schedules"
          onUse={({ isSchedule, text }) =>
            document.change("example", (old) => (isSchedule ? text : withProgram(old, text)))
          }
        />
      )}
      actions={({ definitionJson, why, needsApproval, title }) => (
        <Button
          kind="primary"
          icon="schedule"
          why={why}
          busy={create.isSending ? "Sending" : undefined}
          onPress={() =>
            create.send({
              ...{ slug: (slug ?? slugOf(title)).trim(), definitionJson, paused },
              simulate: needsApproval && simulate,
            })
          }
        >
          Create the schedule
        </Button>
      )}
      error={rest}
    >
      {({ needsApproval }) => (
        <Stack>
          <CheckField
            label="Create paused"
            checked={paused}
            onChange={setPaused}
            hint="The schedule starts no run until you resume it on its page."
          />
          {needsApproval && (
            <CheckField
              label="Dry run before the approval"
              checked={simulate}
              onChange={setSimulate}
              hint="svc first runs the program without writes. The approver sees the result."
            />
          )}
        </Stack>
      )}
    </ScheduleEditor>
  );
}

/** Returns the definition with another program, whose other values stay as they are. */
function withProgram(text: string, programText: string): string {
  return setText(text, "/program", programText.trim());
}

/**
 * Draws the choice of what a new schedule runs: the steps on the page, or a saved tool. It changes only the program of the definition, and
 * can be undone. `steps`: words for the steps.
 */
function RunsChoice({ steps, document }: { steps: string; document: Document }) {
  const skills = useRows(JobsService.method.listSkills, { pageSize: 100 }, (answer) => answer.skills);
  const written = memberOf(document.root, "program", "steps");
  const run = Array.isArray(written) && written.length === 1 ? memberOf(written[0], "run") : undefined;
  return (
    <ChipSelect
      label="Runs"
      value={skills.rows.find(({ toolSlug }) => toolSlug === run)?.slug ?? ""}
      options={[
        { value: "", words: steps },
        ...skills.rows.map(({ slug, toolSlug }) => ({ value: slug, words: `the saved tool ${toolSlug}` })),
      ]}
      onChange={(slug) => {
        const skill = skills.rows.find((one) => one.slug === slug);
        const program =
          skill === undefined ? exampleProgram : programOfSkill(skill.toolSlug, skeletonInput(skill.inputSchemaJson));
        document.change("runs", (old) => withProgram(old, program));
      }}
    />
  );
}
