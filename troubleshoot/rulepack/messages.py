"""Localised system messages: the English wording of a C library message -> its wordings in other languages.

A program that has set a locale prints `strerror`, `strsignal` and `dlerror` texts in the reader's language. A rule
says `Cannot allocate memory`; the pattern made from it also holds the translations below, in the order zh_CN, de, ja,
fr, ko, ru. Start-up failures of the dynamic loader stay English in every locale; the same words after a `dlopen` do
not.

    >>> [(found.start, found.english) for found in find_messages("OSError: Cannot allocate memory")]
    [(9, 'Cannot allocate memory')]

Messages of a single word ("Killed") are common words in any language: "Abandon" stands in every "abandoned". They are
reported only where the text holds no other word, and `text.py` then guards their translations as whole words.

Source: glibc `po/*.po`, commit of 2026-01-20. Equal wordings (ja "Broken pipe") are left as they are and dropped when
the pattern is made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TRANSLATIONS: dict[str, tuple[str, ...]] = {
    "Cannot allocate memory": (
        "无法分配内存",
        "Nicht genügend Hauptspeicher verfügbar",
        "メモリを確保できません",
        "Ne peut allouer de la mémoire",
        "메모리를 할당할 수 없습니다",
        "Невозможно выделить память",
    ),
    "No space left on device": (
        "设备上没有空间",
        "Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
        "デバイスに空き領域がありません",
        "Aucun espace disponible sur le périphérique",
        "장치에 남은 공간이 없음",
        "На устройстве не осталось свободного места",
    ),
    "Disk quota exceeded": (
        "超出磁盘配额",
        "Der zugewiesene Plattenplatz (Quota) ist überschritten",
        "ディスク使用量制限を超過しました",
        "Débordement du quota d'espace disque",
        "디스크 할당량이 초과됨",
        "Превышена дисковая квота",
    ),
    "Permission denied": (
        "权限不够",
        "Keine Berechtigung",
        "許可がありません",
        "Permission non accordée",
        "허가 거부",
        "Отказано в доступе",
    ),
    "Operation not permitted": (
        "不允许的操作",
        "Die Operation ist nicht erlaubt",
        "許可されていない操作です",
        "Opération non permise",
        "명령을 허용하지 않음",
        "Операция не позволена",
    ),
    "No such file or directory": (
        "没有那个文件或目录",
        "Datei oder Verzeichnis nicht gefunden",
        "そのようなファイルやディレクトリはありません",
        "Aucun fichier ou dossier de ce nom",
        "그런 파일이나 디렉터리가 없습니다",
        "Нет такого файла или каталога",
    ),
    "Connection refused": (
        "连接被拒绝",
        "Verbindungsaufbau abgelehnt",
        "接続を拒否されました",
        "Connexion refusée",
        "연결이 거부됨",
        "В соединении отказано",
    ),
    "Connection timed out": (
        "连接超时",
        "Die Wartezeit für die Verbindung ist abgelaufen",
        "接続がタイムアウトしました",
        "Connexion terminée par expiration du délai d'attente",
        "연결 시간 초과",
        "Время ожидания соединения истекло",
    ),
    "Connection reset by peer": (
        "连接被对方重置",
        "Die Verbindung wurde vom Kommunikationspartner zurückgesetzt",
        "接続が相手からリセットされました",
        "Connexion ré-initialisée par le correspondant",
        "상대편이 연결을 끊음",
        "Соединение разорвано другой стороной",
    ),
    "Broken pipe": (
        "断开的管道",
        "Datenübergabe unterbrochen (broken pipe)",
        "Broken pipe",
        "Relais brisé (pipe)",
        "파이프가 깨어짐",
        "Обрыв канала",
    ),
    "No route to host": (
        "没有到主机的路由",
        "Keine Route zum Zielrechner",
        "ホストへの経路がありません",
        "Aucun chemin d'accès pour atteindre l'hôte cible",
        "호스트로 갈 루트가 없음",
        "Нет маршрута до узла",
    ),
    "Network is unreachable": (
        "网络不可达",
        "Das Netzwerk ist nicht erreichbar",
        "ネットワークに届きません",
        "Le réseau n'est pas accessible",
        "네트워크가 접근 불가능합니다",
        "Сеть недоступна",
    ),
    "Address already in use": (
        "地址已在使用",
        "Die Adresse wird bereits verwendet",
        "アドレスは既に使用中です",
        "Adresse déjà utilisée",
        "주소가 이미 사용 중입니다",
        "Адрес уже используется",
    ),
    "Too many open files": (
        "打开的文件过多",
        "Zu viele offene Dateien",
        "ファイルを開きすぎです",
        "Trop de fichiers ouverts",
        "열린 파일이 너무 많음",
        "Слишком много открытых файлов",
    ),
    "Input/output error": (
        "输入/输出错误",
        "Eingabe-/Ausgabefehler",
        "入力/出力エラーです",
        "Erreur d'entrée/sortie",
        "입력/출력 오류",
        "Ошибка ввода/вывода",
    ),
    "Stale file handle": (
        "过旧的文件句柄",
        "Veraltete Dateizugriffsnummer (file handle)",
        "古いファイルハンドルです",
        "Panne d'accès au fichier",
        "끊어진 파일 핸들",
        "Устаревший дескриптор файла",
    ),
    "Read-only file system": (
        "只读文件系统",
        "Das Dateisystem ist nur lesbar",
        "読み込み専用ファイルシステムです",
        "Système de fichiers accessible en lecture seulement",
        "읽기전용 파일 시스템",
        "Файловая система доступна только для чтения",
    ),
    "Resource temporarily unavailable": (
        "资源暂时不可用",
        "Die Ressource ist zur Zeit nicht verfügbar",
        "リソースが一時的に利用できません",
        "Ressource temporairement non disponible",
        "자원이 일시적으로 사용 불가능함",
        "Ресурс временно недоступен",
    ),
    "Device or resource busy": (
        "设备或资源忙",
        "Das Gerät oder die Ressource ist belegt",
        "デバイスもしくはリソースがビジー状態です",
        "Périphérique ou ressource occupé",
        "장치나 자원이 동작 중",
        "Устройство или ресурс занято",
    ),
    "Invalid argument": (
        "无效的参数",
        "Das Argument ist ungültig",
        "無効な引数です",
        "Argument invalide",
        "부적절한 인수",
        "Недопустимый аргумент",
    ),
    "No such device": (
        "没有那个设备",
        "Kein passendes Gerät gefunden",
        "そのようなデバイスはありません",
        "Aucun périphérique de ce type",
        "그런 장치가 없음",
        "Нет такого устройства",
    ),
    "Name or service not known": (
        "名称或服务未知",
        "Der Name oder der Dienst ist nicht bekannt",
        "名前またはサービスが不明です",
        "Nom ou service inconnu",
        "이름 혹은 서비스를 알 수 없습니다",
        "Неизвестное имя или служба",
    ),
    "Temporary failure in name resolution": (
        "域名解析出现暂时性错误",
        "Temporärer Fehler bei der Namensauflösung",
        "名前解決に一時的に失敗しました",
        "Échec temporaire dans la résolution du nom",
        "name resolution에서 일시적인 실패",
        "Временный сбой в разрешении имен",
    ),
    "Killed": (
        "已杀死",
        "Getötet",
        "強制終了",
        "Processus arrêté",
        "죽었음",
        "Убито",
    ),
    "Terminated": (
        "已终止",
        "Beendet",
        "Terminated",
        "Complété",
        "종료됨",
        "Завершено",
    ),
    "Segmentation fault": (
        "段错误",
        "Speicherzugriffsfehler",
        "Segmentation fault",
        "Erreur de segmentation",
        "세그멘테이션 오류",
        "Ошибка сегментирования",
    ),
    "Aborted": (
        "已中止",
        "Abgebrochen",
        "中止",
        "Abandon",
        "중지됨",
        "Аварийный останов",
    ),
    "Bus error": (
        "总线错误",
        "Bus-Zugriffsfehler",
        "バスエラー",
        "Erreur du bus",
        "버스 오류",
        "Ошибка шины",
    ),
    "Illegal instruction": (
        "非法指令",
        "Ungültiger Maschinenbefehl",
        "Illegal instruction",
        "Instruction non permise",
        "명령어가 잘못됨",
        "Недопустимая инструкция",
    ),
    "cannot open shared object file": (
        "无法打开共享目标文件",
        "Kann die Shared-Object-Datei nicht öffnen",
        "共有オブジェクトファイルを開けません",
        "Ne peut ouvrir le fichier d'objet partagé",
        "동적 오브젝트 파일을 열 수 없습니다",
        "невозможно открыть разделяемый объектный файл",
    ),
    "error while loading shared libraries": (
        "载入共享库时出错",
        "Fehler beim Laden der Shared Libraries",
        "共有ライブラリのロード中にエラーが発生しました",
        "erreur lors du chargement des librairies partagées",
        "동적 라이브러리를 읽어들이는데 오류가 발생했습니다",
        "ошибка при загрузке разделяемых библиотек",
    ),
    "symbol lookup error": (
        "符号查找错误",
        "Fehler beim Nachschlagen des Symbols",
        "シンボル検索エラーです",
        "erreur de recherche de symbole",
        "심볼 찾기 오류",
        "ошибка поиска символа",
    ),
    "cannot allocate memory in static TLS block": (
        "无法在静态 TLS 块中分配内存",
        "Kein Speicher im statischen TLS-Block verfügbar",
        "静的 TLS ブロック内にメモリを配置出来ません",
        "ne peut allouer de la mémoire dans un bloc statique TLS",
        "정적 TLS 블럭에는 메모리를 할당할 수 없습니다",
        "невозможно выделить память в статичном блоке TLS",
    ),
    "file too short": (
        "文件过短",
        "Die Datei ist zu kurz",
        "ファイルが小さすぎます",
        "fichier trop court",
        "파일이 너무 짧습니다",
        "файл слишком мал",
    ),
    "invalid ELF header": (
        "无效的 ELF 头",
        "Ungültiger ELF-Header",
        "無効な ELF ヘッダーです",
        "en-tête ELF invalide",
        "ELF 헤더가 잘못됨",
        "неверный заголовок ELF",
    ),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A system message standing in a text: text[start:end] is a wording of `english`."""

    start: int
    end: int
    english: str

    @property
    def translations(self) -> tuple[str, ...]:
        """The other wordings, without those that are the English one again."""
        return tuple(dict.fromkeys(each for each in TRANSLATIONS[self.english] if each != self.english))

    @property
    def is_one_word(self) -> bool:
        return " " not in self.english


def _compile(flags: int) -> re.Pattern[str]:
    longest_first = sorted(TRANSLATIONS, key=len, reverse=True)
    wordings = "|".join(re.escape(each).replace("\\ ", r"\s+") for each in longest_first)
    return re.compile(rf"(?<![^\W_])(?:{wordings})(?![^\W_])", flags)


_CASELESS = _compile(re.IGNORECASE)
_EXACT = _compile(0)
_ENGLISH = {" ".join(each.lower().split()): each for each in TRANSLATIONS}
_WORD = re.compile(r"[^\W\d_]+")


def find_messages(text: str, *, exact_case: bool = False) -> list[Found]:
    """Return the system messages that stand in `text` as whole words, in order, none inside another.

    With `exact_case` a message counts only in the C library's own letter case.
    """
    matches = (_EXACT if exact_case else _CASELESS).finditer(text)
    found = [Found(each.start(), each.end(), _ENGLISH[" ".join(each[0].lower().split())]) for each in matches]
    return [each for each in found if not each.is_one_word or len(_WORD.findall(text)) == 1]
