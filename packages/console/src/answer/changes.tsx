import { useMemo } from "react";
import type { PlacedFaults } from "../form/faults.ts";
import { Form } from "../form/form.tsx";
import { readSchema } from "../form/read-schema.ts";
import type { Values } from "../form/value.ts";

/**
 * Draws a form for the fields that a `retry-with` answer may change. The form is made from the question's schema; the service validates the
 * values.
 */
export default function Changes({
  schemaJson,
  values,
  faults,
  onChange,
}: {
  schemaJson: string;
  values: Values;
  faults: PlacedFaults;
  onChange: (values: Values) => void;
}) {
  const shape = useMemo(() => readSchema(schemaJson), [schemaJson]);
  return <Form shape={shape} values={values} faults={faults} onChange={onChange} />;
}
