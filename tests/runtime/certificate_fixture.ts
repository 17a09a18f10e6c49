/**
 * A self-signed certificate of `localhost` and its key, only for tests. OpenSSL 3.4 creates similar
 * ones:
 *
 * ```sh
 * openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
 *   -not_before 20250101000000Z -not_after 21250101000000Z -addext basicConstraints=CA:FALSE \
 *   -addext subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1
 * ```
 *
 * @module
 */
import type { TlsOptions } from "../../src/runtime/adapter.ts";

/** The certificate and its key. */
export const LOCALHOST: TlsOptions = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBijCCAS+gAwIBAgIUOUpwVwH4xA2iloWoZHdWeBpasJcwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI1MDEwMTAwMDAwMFoYDzIxMjUwMTAx
MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARHPAzdQHo8ab65KJcVNyUaEVCpvuWgGQJR2APSrInHtSroVGb+XUgr
ndNEIm5iMaMnssLVo1u+vtsWY/eYaG12o10wWzAMBgNVHRMBAf8EAjAAMCwGA1Ud
EQQlMCOCCWxvY2FsaG9zdIcEfwAAAYcQAAAAAAAAAAAAAAAAAAAAATAdBgNVHQ4E
FgQUxvYLn+8krdQahF0BZb/7FsYYbMEwCgYIKoZIzj0EAwIDSQAwRgIhAM5bx5qN
xi+RY/4Qw5moyVmamTsVRTG+6fnmhOO78dg7AiEAo5HlGBYWzkOt0e4K5bPnlpjK
5PUHR8puivoWbFASIiM=
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVltIhCYllDWnLKXN
hiQstqxHW1AsfF6htfxZSEPvtRehRANCAARHPAzdQHo8ab65KJcVNyUaEVCpvuWg
GQJR2APSrInHtSroVGb+XUgrndNEIm5iMaMnssLVo1u+vtsWY/eYaG12
-----END PRIVATE KEY-----
`,
};
