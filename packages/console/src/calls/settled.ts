import { useEffect, useState } from "react";

/** A value as it last stood still for `ms`: what is typed is not asked about at every key. Values are compared as they are. */
export function useSettled<Value extends string | undefined>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
