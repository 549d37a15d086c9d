import { AdminService } from "@svc/gen/admin";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useRefresh } from "../../calls/refresh.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FaultNotice } from "../../ui/fault.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormFrame } from "../../ui/form-frame.tsx";

/** Creates a project and leads to its keys: without one nobody can use it. */
export function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const navigate = useNavigate();
  const refresh = useRefresh(AdminService);
  const create = useWrite(AdminService.method.createProject, {
    onSuccess: async ({ project }) => {
      await refresh();
      if (project !== undefined) void navigate({ to: "/admin/projects/$id", params: { id: project.id } });
    },
  });
  return (
    <Dialog open onClose={onClose} title="Create a project" hideOnInteractOutside={false}>
      <FormFrame onSubmit={() => create.send({ name })}>
        <TextField
          label="Name"
          required
          autoComplete="off"
          value={name}
          onChange={setName}
          hint="1 to 100 characters, unique in the deployment. It begins with the default policy and a contact named owner."
        />
        <FaultNotice error={create.error} />
        <Button kind="primary" type="submit" busy={create.isSending ? "Creating" : undefined}>
          Create the project
        </Button>
      </FormFrame>
    </Dialog>
  );
}
