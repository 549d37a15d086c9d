/** A scope as a person reads it: where the deployment has not said what its scopes begin with, that part is left out. */
export function scopeWords(scope: string): string {
  return scope.replace(/^\{scope_base\}\/?/, "");
}
