"""Certificates for one run, made with the openssl command: most peers judge them by the machine's own clock."""

import pathlib
import subprocess
import time

KINDS = ["rsa2048", "p256", "p384", "p521", "ed25519"]
KEYS = {
    "rsa2048": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    "p256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "p384": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    "p521": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"],
    "ed25519": ["-algorithm", "ED25519"],
    "rsa-pss": ["-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"],
}
DAY = 86400
CONFIG = """
[req]
distinguished_name = dn
[dn]
[ca]
default_ca = issuer
[issuer]
dir = {folder}
database = {folder}/index.txt
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
"""
AUTHORITY = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n"
LEAF = ("basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n"
        "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n")


class Pki:
    """folder/NAME.pem is a chain, leaf first, without its root; folder/NAME.key its key (PKCS#8)."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        (self.folder / "index.txt").touch()
        (self.folder / "config").write_text(CONFIG.format(folder=self.folder))
        self._root("root")
        self._root("other-root")
        self._root("twin-root", "root")  # of the same name as the root, with a key of its own
        self._issue("intermediate", "root", AUTHORITY)
        for kind in [*KINDS, "rsa-pss"]:
            self._leaf(f"server-{kind}", kind)
            self._leaf(f"client-{kind}", kind)
        self._leaf("server-expired", days=(-20, -2))
        self._leaf("client-expired", days=(-20, -2))
        self._leaf("server-other-name", host="other.test")
        self._leaf("server-untrusted", issuer="other-root")
        self._leaf("client-untrusted", issuer="other-root")
        self._leaf("client-twin", issuer="twin-root")

    def path(self, name):
        return str(self.folder / name)

    def _openssl(self, *arguments):
        done = subprocess.run(["openssl", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"openssl {' '.join(arguments)}: {done.stderr}")

    def _key(self, name, kind):
        self._openssl("genpkey", *KEYS[kind], "-out", f"{name}.key")

    def _root(self, name, subject=None):
        self._key(name, "p256")
        (self.folder / "extensions").write_text(f"{CONFIG.format(folder=self.folder)}\n[root]\n{AUTHORITY}")
        self._openssl("req", "-new", "-x509", "-sha256", "-days", "30", "-key", f"{name}.key", "-subj",
                      f"/CN=interop {subject or name}", "-config", "extensions", "-extensions", "root", "-out",
                      f"{name}.pem")

    def _issue(self, name, issuer, extensions, kind="p256", days=(-1, 20)):
        self._key(name, kind)
        (self.folder / "extensions").write_text(extensions)
        begin, end = (time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + DAY * day)) for day in days)
        self._openssl("req", "-new", "-key", f"{name}.key", "-subj", f"/CN=interop {name}", "-config", "config",
                      "-out", "csr")
        self._openssl("ca", "-batch", "-notext", "-config", "config", "-cert", f"{issuer}.pem", "-keyfile",
                      f"{issuer}.key", "-startdate", begin, "-enddate", end, "-extfile", "extensions", "-in", "csr",
                      "-out", f"{name}.pem")

    def _leaf(self, name, kind="p256", issuer="intermediate", days=(-1, 20), host="server.test"):
        role = name.partition("-")[0]
        extensions = f"{LEAF}extendedKeyUsage={role}Auth\n"
        if role == "server":
            extensions += f"subjectAltName=DNS:{host}\n"
        self._issue(name, issuer, extensions, kind, days)
        if issuer == "intermediate":
            chain = self.folder / f"{name}.pem"
            chain.write_text(chain.read_text() + (self.folder / "intermediate.pem").read_text())
